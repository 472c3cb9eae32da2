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
 * A revocation with its place in the feed. Positions of one lane grow in commit order: once a reader has seen a position of a lane, no
 * smaller one appears later in that lane. Entries of different lanes have no order. Ending all sessions of a user appends one
 * entry per key and per session.
 */
export interface FeedEntry extends FeedChange {
  /** 0 to `FEED_LANES - 1`. All entries of one account have the same lane. */
  readonly lane: number
  /** At least 1. Two entries of one lane have different positions. */
  readonly position: number
}

/**
 * The number of lanes of the feed. Appends to one lane wait for each other, those to different lanes do not. It is part of the
 * format of every store: a reader and a writer that disagree would miss entries.
 */
export const FEED_LANES = 32

/** The positions of a reader that has read nothing: for each lane, the position before its first entry. */
export const FEED_START: readonly number[] = Array.from({ length: FEED_LANES }, () => 0)

/** The positions of a reader at `positions` that has read some more entries, in any order. */
export function positionsAfter(
  positions: readonly number[],
  entries: readonly FeedEntry[],
): readonly number[] {
  const reached = [...positions]
  for (const { lane, position } of entries) reached[lane] = Math.max(reached[lane] ?? 0, position)
  return reached
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
 * Names the feed's SQL table and its Postgres channel. Columns: `lane`, `position`, `kind`, `id`, `version`, `at`, `starts_at`
 * (`from`). On Postgres a NOTIFY on `channel` follows each append. It only wakes readers, who read the table by lane and position.
 */
export function sqlFeed(prefix: string = DEFAULT_PREFIX): {
  readonly table: string
  readonly channel: string
} {
  const table = `${checkedPrefix(prefix)}feed`
  return { table, channel: table }
}

/** The prefix of the issuer's Redis keys. */
export const DEFAULT_REDIS_PREFIX = 'gw:'

/**
 * What the Redis keys of the accounts of one lane begin with. The hash tag puts rows and feed of a lane into one slot of a cluster, because
 * they change in one step, and the lanes into different ones.
 */
export const redisLane = (prefix: string, lane: number): string => `{${prefix}${lane}}:`

/**
 * Names the Redis streams of the feed, one for each lane, and its channel. The ids of a stream are `<position>-0`; its one field `entry`
 * is a `FeedChange` as JSON. Each append also publishes its position on `channel`, which only wakes readers. Throws a `TypeError` if the
 * prefix contains a brace.
 */
export function redisFeed(prefix: string = DEFAULT_REDIS_PREFIX): {
  readonly streams: readonly string[]
  readonly channel: string
} {
  if (/[{}]/.test(prefix))
    throw new TypeError(
      `prefix must contain no braces, because each lane has a hash tag of its own, got ${JSON.stringify(prefix)}`,
    )
  return {
    streams: FEED_START.map((_, lane) => `${redisLane(prefix, lane)}feed`),
    channel: `${prefix}feed`,
  }
}

/** The feed of one process. The memory adapters append to it; a guard in the same process reads it. */
export interface MemoryFeed {
  /** Appends to a lane, default 0. */
  append(changes: readonly FeedChange[], lane?: number): void
  /** Of each lane up to `limit` entries after its position, oldest first. `FEED_START` is before all. */
  after(positions: readonly number[], limit: number): readonly FeedEntry[]
  /** Deletes entries appended before an instant. */
  dropBefore(at: EpochMs): void
  /** Calls `listener` after each append. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void
}

/** Makes the feed of one process. */
export function memoryFeed(): MemoryFeed {
  const lanes: FeedEntry[][] = FEED_START.map(() => [])
  const last = [...FEED_START]
  const listeners = new Set<() => void>()
  return {
    append(changes, lane = 0) {
      for (const change of changes) {
        const position = (last[lane] as number) + 1
        last[lane] = position
        lanes[lane]?.push({ ...change, lane, position })
      }
      if (changes.length > 0) for (const listener of listeners) listener()
    },
    after: (positions, limit) =>
      lanes.flatMap((entries, lane) =>
        entries.filter(({ position }) => position > (positions[lane] as number)).slice(0, limit),
      ),
    dropBefore(at) {
      for (const [lane, entries] of lanes.entries()) lanes[lane] = entries.filter(entry => entry.at >= at)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
