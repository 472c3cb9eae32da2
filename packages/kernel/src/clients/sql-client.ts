import { malformedReply, toFault } from '../fault.ts'

/** A value of a statement parameter. Booleans and dates are left out, because SQLite has neither. */
export type SqlValue = string | number | bigint | null | Uint8Array

/** One row, by column name. Postgres sends `bigint` columns as text: read them with `toInteger`. */
export type SqlRow = Readonly<Record<string, unknown>>

/** The SQL stores. `mariadb` is MariaDB: only the adapters that are named after it speak this dialect. */
export type SqlDialect = 'postgres' | 'sqlite' | 'mariadb'

/** The reply to a statement. */
export interface SqlReply {
  readonly rows: readonly SqlRow[]
  /**
   * How many rows a write without rows has inserted, deleted, or found to update, whether or not it changed them. Only clients with the
   * dialect `mariadb` count them, because there `update` cannot return rows.
   */
  readonly affected?: number
}

/** Runs one statement. Parameters are `$1`, `$2`, ... on every store. */
export interface SqlQueries {
  /** Which store runs the statements: only Postgres has row locks, for example. */
  readonly dialect: SqlDialect
  query(text: string, values?: readonly SqlValue[]): Promise<SqlReply>
  /**
   * Adds a statement whose result is not needed: it is sent in the round trip of the next `query`, or of the commit, before it
   * and in the order of the calls. Absent outside a transaction and where it would save no round trip: call the function
   * `defer`, which then runs the statement at once. `received` is called with its rows when that next `query` has ended. Throws for a
   * value of a type that cannot be sent.
   */
  defer?(text: string, values?: readonly SqlValue[], received?: (found: readonly SqlRow[]) => void): void
}

/** An open transaction. */
export interface SqlTransaction extends SqlQueries {
  /**
   * Runs the last statement and commits, in one round trip if the driver can. If the statement fails, nothing is
   * committed, and the work must reject too. The statement must not itself end the transaction. After the call the
   * transaction rejects statements. Once it has resolved everything is committed, whatever the work does next. Absent
   * where it would save no round trip.
   */
  commit?(text: string, values?: readonly SqlValue[]): Promise<SqlReply>
}

/** Options of one transaction. */
export interface SqlTransactionOptions {
  /**
   * Sends BEGIN together with the first statement, in one round trip if the driver can. Work that runs no statement then
   * opens no transaction. If the first statement fails, all later ones fail with its error. The first text must be one
   * statement. Default false. No effect on SQLite.
   */
  readonly lazyBegin?: boolean
}

/** A version that `migrate` would run. */
export interface PlannedVersion {
  readonly namespace: string
  readonly version: number
  readonly statements: readonly string[]
  /** The version that software must know to use the tables afterwards. */
  readonly least: number
}

/** Where the rows of a table are on a database of several machines, as the mark at the end of its DDL says. */
export interface TableMark {
  readonly table: string
  /** The column by which the rows are divided. Undefined: each machine has all rows. */
  readonly column?: string
}

/** A SQL database. Made by `fromPgPool`, `fromSqlite` or a function of `@gatewright/kernel/orms`, or an implementation of your own. */
export interface SqlClient extends SqlQueries {
  /** With it, `migrate` writes nothing, and calls it with each version that is missing. */
  readonly planMigration?: (version: PlannedVersion) => void
  /** With it, `migrate` writes nothing, and calls it with the mark of each table of its DDL. */
  readonly listMarks?: (marks: readonly TableMark[]) => void
  /**
   * Runs `work` in one transaction: commits when it resolves, rolls back when it rejects and rethrows its error. Use
   * only the given `tx` inside; it rejects statements after the transaction has ended. If the commit itself fails with
   * `ERR_STORE_UNAVAILABLE`, whether it took effect is unknown.
   */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>, options?: SqlTransactionOptions): Promise<T>
}

/** Runs a statement and returns its rows. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`. */
export async function rows(
  db: SqlQueries,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<readonly SqlRow[]> {
  const found = (await replyTo(db, text, values))?.rows
  if (!Array.isArray(found)) throw malformedReply('database', 'rows')
  return found as readonly SqlRow[]
}

/** Runs a write on a database with the dialect `mariadb` and returns `affected` of its reply. Faults: as of `rows`. */
export async function affected(
  db: SqlQueries,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<number> {
  return toInteger((await replyTo(db, text, values))?.affected)
}

async function replyTo(
  db: SqlQueries,
  text: string,
  values: readonly SqlValue[],
): Promise<Partial<SqlReply> | null> {
  try {
    return await db.query(text, values)
  } catch (cause) {
    throw toFault('database', cause)
  }
}

/**
 * Runs a statement of a transaction whose result is not needed, such as the insert of a row or the lock of one, in the
 * round trip of the next statement or of the commit. Every later statement of the transaction sees what it has done; a
 * statement that counts what it locks has a snapshot of its own, taken after the lock. If it fails, that next statement or the
 * commit fails with its error, as does everything after it, and nothing is committed. If the work rejects before anything
 * else is sent, or the process ends, it does not run at all. Where the driver cannot send statements together, and on
 * SQLite, it runs at once, and its error comes out here: so await it. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
 */
export async function defer(tx: SqlQueries, text: string, values: readonly SqlValue[] = []): Promise<void> {
  if (tx.defer) tx.defer(text, values)
  else await rows(tx, text, values)
}

/**
 * Runs a statement as `defer` does, and returns a function that returns its rows. Call it once the next statement of the transaction has
 * ended: so two statements about different accounts need one round trip.
 */
export async function rowsAhead(
  tx: SqlQueries,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<() => readonly SqlRow[]> {
  let found: readonly SqlRow[] | undefined
  if (tx.defer)
    tx.defer(text, values, received => {
      found = received
    })
  else found = await rows(tx, text, values)
  return () => {
    if (!found) throw new Error('await the next statement of the transaction before you read these rows')
    return found
  }
}

/** How an `insert` updates the row that has its key, in the words of a store. */
interface Upsert {
  /** Follows the values of the `insert`. The columns and their new values follow it. Call the columns of the row by the name of the table. */
  readonly clause: string
  /** The value that the `insert` has for a column. */
  readonly proposed: (column: string) => string
}

/** Returns how an `insert` updates the row with the same `key`, a list of the columns of the primary key. */
export function upsert({ dialect }: SqlQueries, key: string): Upsert {
  return dialect === 'mariadb'
    ? { clause: 'on duplicate key update', proposed: column => `values(${column})` }
    : { clause: `on conflict (${key}) do update set`, proposed: column => `excluded.${column}` }
}

/**
 * A lock clause of Postgres, such as `for update`, for the end of a `select`. Empty on SQLite, which has one writer: a
 * transaction there sees everything that earlier transactions committed.
 */
export function rowLock({ dialect }: SqlQueries, clause: string): string {
  return dialect === 'postgres' ? ` ${clause}` : ''
}

/**
 * Reads an integer column, whether the driver sends a number, a bigint, digits or, where a process has set a parser of its own, an
 * object that prints digits, such as a decimal. Fault: `ERR_STORE_REPLY`.
 */
export function toInteger(value: unknown): number {
  // Number('') and Number([]) are 0, so only digits are converted.
  const digits = typeof value !== 'number' && !Array.isArray(value) && /^-?\d+$/.test(String(value))
  const number = digits ? Number(value) : value
  if (!Number.isSafeInteger(number)) throw malformedReply('database', 'an integer column')
  return number as number
}

/** Reads a text column. Fault: `ERR_STORE_REPLY`. */
export function toText(value: unknown): string {
  if (typeof value !== 'string') throw malformedReply('database', 'a text column')
  return value
}
