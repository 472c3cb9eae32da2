import type { EpochMs } from '@gatewright/kernel'

/** How often one principal used one old name. Both texts are 1 to 256 visible ASCII characters. */
export interface AliasUsage {
  readonly alias: string
  readonly principal: string
  readonly count: number
  readonly firstSeen: EpochMs
  readonly lastSeen: EpochMs
}

/** Which row of usage: rows are ordered by alias, then principal, byte by byte. */
export type AliasUsageKey = Pick<AliasUsage, 'alias' | 'principal'>

/** Uses gathered by one process, each pair of alias and principal at most once. */
export interface AliasUsageBatch {
  /** The process: 1 to 64 visible ASCII characters that no other process ever has. */
  readonly writer: string
  /** Counts the writer's batches: 1, 2, 3 ... A batch that is sent again keeps its number. */
  readonly sequence: number
  readonly rows: readonly AliasUsage[]
}

/** Who used which old name, how often, and when first and last. */
export interface AliasUsageStorage {
  /**
   * Adds a batch, all of it or nothing: counts add up, `firstSeen` keeps the earliest and `lastSeen` the latest,
   * whatever the order in which writers arrive. A number not above the writer's last one was added before: nothing
   * happens and the answer is false. So a batch whose answer got lost is sent again and counts once; of any number of
   * simultaneous calls with one batch, exactly one adds it. A writer is remembered for a day after its last batch.
   * Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY` (it may have been added: send it again) and
   * `ERR_STORE_FULL` (it has not).
   */
  add(batch: AliasUsageBatch, now: EpochMs): Promise<boolean>

  /** Reads up to `limit` rows (1 to 1000) after a key, in order; undefined starts. Rows added meanwhile may be missed. */
  page(after: AliasUsageKey | undefined, limit: number): Promise<readonly AliasUsage[]>

  /**
   * Deletes up to `limit` rows last seen before an instant, and says how many. Safe from every host at once; give
   * an instant more than a day back, since writers last heard of before it are forgotten too.
   */
  collect(before: EpochMs, limit: number): Promise<number>
}
