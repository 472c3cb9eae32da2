import { rowLock, rows, type SqlQueries } from './sql-client.ts'

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
 * row, or read the whole table. Elsewhere the condition is repeated, so an `update` must make the rows not due: SQLite has one writer, and
 * Citus, which refuses such a lock in several shards, waits for rows that are locked. `db` is the client rather than a transaction, so that
 * it is asked once whether it is Citus. Faults: `ERR_STORE_*`.
 */
export async function takesDue(db: SqlQueries, { table, key, due, order, limit }: DueRows): Promise<string> {
  const chosen = `select ${key} from ${table} where ${due} order by ${order} limit ${limit}`
  return db.dialect !== 'postgres' || (await isCitus(db))
    ? `${due} and (${key}) in (${chosen})`
    : `(${key}) in (with chosen as materialized (${chosen}${rowLock(db, 'for update skip locked')}) select ${key} from chosen)`
}

const askedOf = new WeakMap<SqlQueries, boolean>()

/** Whether a database on Postgres has the extension Citus, and so may have its tables on several machines. Asks once. Faults: `ERR_STORE_*`. */
export async function isCitus(db: SqlQueries): Promise<boolean> {
  const known = askedOf.get(db)
  if (known !== undefined || db.dialect !== 'postgres') return known ?? false
  const found = await rows(db, "select 1 from pg_extension where extname = 'citus'")
  askedOf.set(db, found.length > 0)
  return found.length > 0
}
