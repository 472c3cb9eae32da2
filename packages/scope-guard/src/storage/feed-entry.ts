import { malformedReply, type FeedChange, type FeedEntry } from '@gatewright/kernel'

const text = (value: unknown): value is string => typeof value === 'string' && value !== ''
const optional = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value)

/** Checks one entry from a store; a revocation that cannot be read must not be skipped. Fault: `ERR_STORE_REPLY`. */
export function checkedEntry(store: string, position: unknown, change: Record<string, unknown>): FeedEntry {
  const { kind, id, version, at, from } = change
  const sound =
    Number.isSafeInteger(position) &&
    (kind === 'key' || kind === 'session') &&
    text(id) &&
    Number.isSafeInteger(at) &&
    optional(version) &&
    optional(from)
  if (!sound) throw malformedReply(store, 'a revocation')
  return { ...(change as unknown as FeedChange), position: position as number }
}
