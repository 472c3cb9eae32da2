import type { EpochMs } from '@gatewright/kernel/internal'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { rowLock } from '@gatewright/kernel/internal/sql'

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
 * Deletes up to `limit` rows whose instant is before `before`, the oldest first, and resolves to their number. Hosts that call it at the same
 * time delete different rows and do not wait for each other. Faults: `ERR_STORE_*`.
 */
export async function deleteDue(
  db: SqlQueries,
  { table, key, at, only = 'true' }: DueRows,
  limit: number,
  before: EpochMs,
): Promise<number> {
  const text = `delete from ${table} where (${key}) in (select ${key} from ${table}
    where ${only} and ${at} < $1 order by ${at} limit $2${rowLock(db, 'for update skip locked')}) returning 1`
  return (await rows(db, text, [before, limit])).length
}
