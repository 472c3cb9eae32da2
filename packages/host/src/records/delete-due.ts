import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { takesDue } from '@gatewright/kernel/internal/sql'

/** Which rows of a table are deleted, and by which columns. */
interface DueRows {
  readonly table: string
  /** The columns of its primary key or of another unique index, joined by commas. */
  readonly key: string
  /** The column whose instant decides. It needs an index. */
  readonly at: string
  /** Only rows that meet this condition in SQL, which the index has too. */
  readonly only?: string
}

/**
 * Deletes up to `limit` rows whose instant is before `before`, the oldest first, and resolves to their number. Of hosts that call it at the same
 * time, one deletes a row. Faults: `ERR_STORE_*`.
 */
export async function deleteDue(
  db: SqlQueries,
  { table, key, at, only = 'true' }: DueRows,
  limit: number,
  before: EpochMs,
): Promise<number> {
  const taken = await takesDue(db, { table, key, due: `${only} and ${at} < $1`, order: at, limit: '$2' })
  return (await rows(db, `delete from ${table} where ${taken} returning 1`, [before, limit])).length
}
