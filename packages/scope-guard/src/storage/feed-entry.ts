import { malformedReply, type FeedChange, type FeedEntry } from '@gatewright/kernel'

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isOptionalInteger = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value)

/** Checks one entry from a store. A malformed entry is a fault and not skipped, since it may revoke a session. Fault: `ERR_STORE_REPLY`. */
export function checkedEntry(store: string, position: unknown, change: Record<string, unknown>): FeedEntry {
  const { kind, id, version, at, from } = change
  const isEntry =
    Number.isSafeInteger(position) &&
    (kind === 'key' || kind === 'session') &&
    isText(id) &&
    Number.isSafeInteger(at) &&
    isOptionalInteger(version) &&
    isOptionalInteger(from)
  if (!isEntry) throw malformedReply(store, 'a revocation')
  return { ...(change as unknown as FeedChange), position: position as number }
}
