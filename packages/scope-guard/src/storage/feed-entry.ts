import { FEED_LANES, malformedReply, type FeedChange, type FeedEntry } from '@gatewright/kernel'

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isOptionalInteger = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value)

const isLane = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < FEED_LANES

/** The place of an entry in the feed, as a store returned it. */
interface FeedPlace {
  readonly lane: number
  readonly position: number | undefined
}

/** Checks one entry from a store. A malformed entry is a fault and not skipped, since it may revoke a session. Fault: `ERR_STORE_REPLY`. */
export function checkedEntry(store: string, place: FeedPlace, change: Record<string, unknown>): FeedEntry {
  const { kind, id, version, at, from } = change
  const { lane, position } = place
  const isEntry =
    isLane(lane) &&
    Number.isSafeInteger(position) &&
    (kind === 'key' || kind === 'session') &&
    isText(id) &&
    Number.isSafeInteger(at) &&
    isOptionalInteger(version) &&
    isOptionalInteger(from)
  if (!isEntry) throw malformedReply(store, 'a revocation')
  return { ...(change as unknown as FeedChange), lane, position: position as number }
}
