import { rows, type SqlQueries, type SqlRow, type SqlValue } from '@gatewright/kernel/sql'
import { rowLock, rowsAhead, toText } from '@gatewright/kernel/internal/sql'

/** Which rows of a table of accounts are due. */
interface DueRows {
  readonly table: string
  /** The columns that are read, besides `account_id` and `id`. */
  readonly columns?: string
  /** The condition in SQL that a row is due, with the parameter $1. An index needs it. */
  readonly due: string
  /** The column by which the earliest is first. */
  readonly order: string
}

/**
 * Locks up to `limit` due rows until the transaction ends, the earliest first, and returns them. It skips rows that another transaction has
 * locked, and those that are no longer due. It reads which are due, and then locks each by its key, because on several machines a statement
 * locks rows of one account only.
 */
export async function lockDue(
  tx: SqlQueries,
  { table, columns, due, order }: DueRows,
  at: SqlValue,
  limit: number,
): Promise<SqlRow[]> {
  const found = await rows(
    tx,
    `select account_id, id from ${table} where ${due} order by ${order} limit $2`,
    [at, limit],
  )
  const names = ['account_id, id', ...(columns === undefined ? [] : [columns])].join(', ')
  const lock = `select ${names} from ${table} where account_id = $2 and id = $3 and ${due}${rowLock(tx, 'for update skip locked')}`
  const valuesOf = (row: SqlRow): SqlValue[] => [at, toText(row['account_id']), toText(row['id'])]
  const locked: (() => readonly SqlRow[])[] = []
  for (const row of found.slice(0, -1)) locked.push(await rowsAhead(tx, lock, valuesOf(row)))
  const last = found.at(-1)
  const lastLocked = last ? await rows(tx, lock, valuesOf(last)) : []
  return [...locked.flatMap(read => read()), ...lastLocked]
}
