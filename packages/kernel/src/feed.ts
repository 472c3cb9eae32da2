import type { Session } from './claims.ts'
import { GRACE_MS, type EpochMs } from './clock.ts'
import { checkedPrefix, DEFAULT_PREFIX } from './prefix.ts'

/** One revocation, as the issuer appends it in the same atomic step as the row it changes. */
export interface FeedChange {
  /** `key`: sessions of key `id` minted under a version below `version` are over. `session`: session `id` is over. */
  readonly kind: 'key' | 'session'
  readonly id: string
  /** The key's new version; only with kind `key`. */
  readonly version?: number
  /** When the writer appended it, by the writer's clock. Decides nothing; rows are collected by it. */
  readonly at: EpochMs
  /** The instant from which it holds (the end of a rotation's overlap). Absent: at once, whatever a clock says. */
  readonly from?: EpochMs
}

/**
 * A revocation with its place in the feed. Positions grow in commit order: once a reader has seen a position,
 * no smaller one appears later. All of a user's sessions ending is one entry per key and session of theirs.
 */
export interface FeedEntry extends FeedChange {
  readonly position: number
}

/** How long an entry is kept, in ms: the longest life of a session (24 h) and the grace. A new reader loads all. */
export const FEED_RETENTION_MS: number = 86_400_000 + GRACE_MS

/** Whether an entry ends a session. At `from` it does; the instant before it does not. */
export function endsSession(entry: FeedChange, session: Session, now: EpochMs): boolean {
  if (entry.from !== undefined && now < entry.from) return false
  return entry.kind === 'key'
    ? entry.id === session.keyId && session.keyVersion < (entry.version ?? Infinity)
    : entry.id === session.sessionId
}

/**
 * Where the feed lives in SQL. Columns: `position`, `kind`, `id`, `version`, `at`, `starts_at` (is `from`).
 * On Postgres each append ends with a NOTIFY on `channel`, a wake-up only: read the table by position.
 */
export function sqlFeed(prefix: string = DEFAULT_PREFIX): {
  readonly table: string
  readonly channel: string
} {
  const table = `${checkedPrefix(prefix)}feed`
  return { table, channel: table }
}

/** The prefix of the issuer's Redis keys: one hash tag, because the feed and the rows change in one step. */
export const DEFAULT_REDIS_PREFIX = '{gw}:'

/**
 * Where the feed lives in Redis: a stream whose ids are `<position>-0` and whose one field `entry` is a
 * `FeedChange` as JSON. Each append also publishes its position on `channel`, a wake-up only.
 */
export function redisFeed(prefix: string = DEFAULT_REDIS_PREFIX): {
  readonly stream: string
  readonly channel: string
} {
  return { stream: `${prefix}feed`, channel: `${prefix}feed` }
}

/** The feed of one process: the memory adapters append to it and a guard in the same process reads it. */
export interface MemoryFeed {
  append(changes: readonly FeedChange[]): void
  /** Up to `limit` entries after a position, oldest first. Position 0 is before the first. */
  after(position: number, limit: number): readonly FeedEntry[]
  /** Drops entries appended before an instant. */
  dropBefore(at: EpochMs): void
  /** Calls back after each append. The answer ends the subscription. */
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
