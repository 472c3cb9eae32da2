import { malformedReply, toFault } from '../fault.ts'

/** Values a statement can carry. Booleans and dates are left out: SQLite has neither. */
export type SqlValue = string | number | bigint | null | Uint8Array

/** One row, by column name. Postgres sends `bigint` columns as text: read them with `toInteger`. */
export type SqlRow = Readonly<Record<string, unknown>>

/** Something that runs one statement. Parameters are `$1`, `$2`, ... on every store. */
export interface SqlQueries {
  query(text: string, values?: readonly SqlValue[]): Promise<{ readonly rows: readonly SqlRow[] }>
}

/** An open transaction. */
export interface SqlTransaction extends SqlQueries {
  /**
   * Runs one last statement and commits, in one round trip where the driver can. A statement that the store refuses
   * is not committed, and then the work must fail too. It must not end the transaction itself. After the call the transaction refuses statements, and once it has
   * resolved everything is committed, whatever the work does next. Absent on a store that gains nothing by it.
   */
  commit?(text: string, values?: readonly SqlValue[]): Promise<{ readonly rows: readonly SqlRow[] }>
}

/** Options of one transaction. */
export interface SqlTransactionOptions {
  /**
   * Sends the beginning along with the first statement, in one round trip where the driver can; work that runs none
   * has no transaction. Where the first fails, all that follow fail with its error. The first is one statement, not
   * several in one text. Default false. Without effect on SQLite.
   */
  readonly beginLate?: boolean
}

/** A database. Recipes: `fromPgPool`, `fromSqlite`. */
export interface SqlClient extends SqlQueries {
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects (its own error is
   * passed on). Use only the given `tx` inside; it refuses statements after the end. When the commit itself
   * fails with `ERR_STORE_UNAVAILABLE`, whether it took effect is unknown.
   */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>, options?: SqlTransactionOptions): Promise<T>
}

/** Runs a statement and returns its rows. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`. */
export async function rows(
  db: SqlQueries,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<readonly SqlRow[]> {
  let reply: { rows?: unknown } | null
  try {
    reply = await db.query(text, values)
  } catch (cause) {
    throw toFault('database', cause)
  }
  const found = reply?.rows
  if (!Array.isArray(found)) throw malformedReply('database', 'rows')
  return found as readonly SqlRow[]
}

/** Reads an integer column, whether the driver sends a number, a bigint or digits. Fault: `ERR_STORE_REPLY`. */
export function toInteger(value: unknown): number {
  // Number('') is 0: a garbled reply must not read as one.
  const digits = typeof value === 'bigint' || (typeof value === 'string' && /^-?\d+$/.test(value))
  const number = digits ? Number(value) : value
  if (!Number.isSafeInteger(number)) throw malformedReply('database', 'an integer column')
  return number as number
}

/** Reads a text column. Fault: `ERR_STORE_REPLY`. */
export function toText(value: unknown): string {
  if (typeof value !== 'string') throw malformedReply('database', 'a text column')
  return value
}
