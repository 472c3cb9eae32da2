import { GRACE_MS, type EpochMs } from './clock.ts'
import type { Session } from './session.ts'
import { checkedPrefix, DEFAULT_PREFIX } from './table-prefix.ts'

/** One revocation. The issuer appends it in the same atomic step in which it changes the key or session. */
export interface FeedChange {
  /** `key`: ends the sessions of key `id` that were issued under a version below `version`. `session`: ends session `id`. */
  readonly kind: 'key' | 'session'
  readonly id: string
  /** The key's new version. Only with kind `key`; without it every session of the key ends. */
  readonly version?: number
  /** When the writer appended it, by the writer's clock. Used only to delete old entries. */
  readonly at: EpochMs
  /** When it takes effect (the end of a rotation's overlap). Absent: immediately, whatever a clock says. */
  readonly from?: EpochMs
}

/**
 * A revocation with its position in the feed. Positions grow in commit order: once a reader has seen a position, no
 * smaller one appears later. Ending all sessions of a user appends one entry per key and per session.
 */
export interface FeedEntry extends FeedChange {
  readonly position: number
}

/** How long an entry is kept, in ms: the longest lifetime of a session (24 h) plus `GRACE_MS`. */
export const FEED_RETENTION_MS: number = 86_400_000 + GRACE_MS

/** Whether an entry ends a session at `now`: from the instant `from` on. */
export function endsSession(entry: FeedChange, session: Session, now: EpochMs): boolean {
  if (entry.from !== undefined && now < entry.from) return false
  return entry.kind === 'key'
    ? entry.id === session.keyId && session.keyVersion < (entry.version ?? Infinity)
    : entry.id === session.sessionId
}

/**
 * Names the feed's SQL table and its Postgres channel. Columns: `position`, `kind`, `id`, `version`, `at`, `starts_at`
 * (`from`). On Postgres each append ends with a NOTIFY on `channel`. It only wakes readers, who read the table by position.
 */
export function sqlFeed(prefix: string = DEFAULT_PREFIX): {
  readonly table: string
  readonly channel: string
} {
  const table = `${checkedPrefix(prefix)}feed`
  return { table, channel: table }
}

/** The prefix of the issuer's Redis keys. It is a hash tag, because the feed and the records change in one step. */
export const DEFAULT_REDIS_PREFIX = '{gw}:'

/**
 * Names the feed's Redis stream and channel. The stream's ids are `<position>-0`; its one field `entry` is a `FeedChange`
 * as JSON. Each append also publishes its position on `channel`, which only wakes readers.
 */
export function redisFeed(prefix: string = DEFAULT_REDIS_PREFIX): {
  readonly stream: string
  readonly channel: string
} {
  return { stream: `${prefix}feed`, channel: `${prefix}feed` }
}

/** The feed of one process. The memory adapters append to it; a guard in the same process reads it. */
export interface MemoryFeed {
  append(changes: readonly FeedChange[]): void
  /** Up to `limit` entries after a position, oldest first. Position 0 is before the first. */
  after(position: number, limit: number): readonly FeedEntry[]
  /** Deletes entries appended before an instant. */
  dropBefore(at: EpochMs): void
  /** Calls `listener` after each append. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void
}

/** Makes the feed of one process. */
export function memoryFeed(): MemoryFeed {
  let entries: FeedEntry[] = []
  let position = 0
  const listeners = new Set<() => void>()
  return {
    append(changes) {
      for (const change of changes) entries.push({ ...change, position: ++position })
      if (changes.length > 0) for (const listener of listeners) listener()
    },
    after: (seen, limit) => entries.filter(entry => entry.position > seen).slice(0, limit),
    dropBefore(at) {
      entries = entries.filter(entry => entry.at >= at)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
