import type { EpochMs } from '@gatewright/kernel'

/** How often one caller (an authenticated key or account, or `anonymous`) used one old name. Both texts are 1 to 256 printable ASCII characters. */
export interface AliasUsage {
  readonly alias: string
  readonly caller: string
  readonly count: number
  readonly firstSeen: EpochMs
  readonly lastSeen: EpochMs
}

/** The key of a usage row. Rows are ordered by alias, then caller, byte by byte. */
export type AliasUsageKey = Pick<AliasUsage, 'alias' | 'caller'>

/** The uses that one process has collected. It has each pair of alias and caller at most once. */
export interface AliasUsageBatch {
  /** The id of the process: 1 to 64 printable ASCII characters that no other process ever uses. */
  readonly writer: string
  /** The number of the batch among the writer's: 1, 2, 3 ... A batch that is sent again keeps its number. */
  readonly sequence: number
  readonly rows: readonly AliasUsage[]
}

/** Stores who used which old name, how often, and when first and last. */
export interface AliasUsageStorage {
  /**
   * Adds a batch atomically: counts are added, `firstSeen` becomes the earliest and `lastSeen` the latest, in whatever order
   * batches arrive. Returns false and changes nothing if the number is not above the writer's last one: the batch was added
   * before. So a batch whose reply got lost can be sent again and counts once, and of simultaneous calls with one batch exactly
   * one adds it. The last number of a writer is kept for a day after its last batch. Faults: `ERR_STORE_UNAVAILABLE`,
   * `ERR_STORE_REPLY` (the batch may have been added: send it again) and `ERR_STORE_FULL` (it has not).
   */
  add(batch: AliasUsageBatch, now: EpochMs): Promise<boolean>

  /**
   * Reads up to `limit` rows (1 to 1000) after a key, in order. `undefined` reads from the beginning. Rows that are added
   * between two calls may be missed.
   */
  page(after: AliasUsageKey | undefined, limit: number): Promise<readonly AliasUsage[]>

  /**
   * Deletes up to `limit` rows that were last seen before the instant `before`, and returns how many. Several hosts may
   * call it simultaneously. The instant must be more than a day ago, because writers without a batch since then are deleted too.
   */
  collect(limit: number, before: EpochMs): Promise<number>
}
