import { rowLock, type SqlQueries } from './sql-client.ts'

/** The rows of a table that are due, and how many of them one statement takes. */
export interface DueRows {
  readonly table: string
  /** The columns of its primary key or of another unique index, joined by commas. */
  readonly key: string
  /** The condition in SQL that a row is due. An index needs it. */
  readonly due: string
  /** The column by which the earliest is first. */
  readonly order: string
  /** The parameter with the number of rows, such as `$2`. */
  readonly limit: string
}

/**
 * Returns the condition of an `update` or `delete` that takes some rows which are due, the earliest first. Of hosts that take at the same time,
 * one takes a row. On Postgres it skips rows that are locked, because it locks rows in another order than other statements and could deadlock
 * with them. There the rows are chosen once, in a `with` of their own: otherwise the planner may choose, and so count the limit, again for each
 * row, or read the whole table. Elsewhere the condition is repeated, so an `update` must make the rows not due.
 */
export function takesDue(db: SqlQueries, { table, key, due, order, limit }: DueRows): string {
  const skip = rowLock(db, 'for update skip locked')
  const chosen = `select ${key} from ${table} where ${due} order by ${order} limit ${limit}${skip}`
  return skip === ''
    ? `${due} and (${key}) in (${chosen})`
    : `(${key}) in (with chosen as materialized (${chosen}) select ${key} from chosen)`
}
