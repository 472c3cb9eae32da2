import { orFault, toFault, type Fault } from '../fault.ts'
import type { SqlClient, SqlQueries, SqlRow, SqlValue } from './sql-client.ts'
import { inOrder, toPositional } from './positional.ts'
import { createWriteQueue } from './sqlite-queue.ts'
import { assertOutsideTransactionScope } from './transaction-scope.ts'

/** The part of libsql, better-sqlite3, node:sqlite and bun:sqlite that is used. */
export interface SqliteDatabase {
  prepare(text: string): {
    /** False for a statement that returns no rows (libsql, better-sqlite3; absent in others). */
    readonly reader?: boolean
    all(...values: unknown[]): unknown[]
    run(...values: unknown[]): unknown
  }
  exec(text: string): unknown
  /** Whether a transaction is open (libsql, better-sqlite3, bun:sqlite). */
  readonly inTransaction?: boolean
  /** The same in node:sqlite. */
  readonly isTransaction?: boolean
}

/** Runs `$n` statements on one connection and prepares each once. Rewrites `$n` to `?`, the only form that all drivers take. */
function createRunner(
  database: SqliteDatabase,
): (text: string, values: readonly SqlValue[]) => { rows: SqlRow[] } {
  interface Prepared {
    readonly statement: ReturnType<SqliteDatabase['prepare']>
    readonly order: readonly number[]
    /** Read once: libsql asks its native part each time, which costs 3 % of a read of balances (npm run bench -- host). */
    readonly returnsRows: boolean
  }
  const prepared = new Map<string, Prepared>()
  return (text, values) => {
    let entry = prepared.get(text)
    if (!entry) {
      const { plain, order } = toPositional(text)
      const statement = database.prepare(plain)
      entry = { statement, order, returnsRows: statement.reader !== false }
      prepared.set(text, entry)
    }
    const { statement, order, returnsRows } = entry
    const bound = inOrder(order, values)
    if (!returnsRows) {
      statement.run(...bound)
      return { rows: [] }
    }
    return { rows: statement.all(...bound) as SqlRow[] }
  }
}

/** Reads, and what SQLite refuses or ignores in a transaction. */
const OUTSIDE_TRANSACTION = /^\s*(?:select|pragma|vacuum|attach|detach)\b/i

/**
 * Runs one statement of its own. A write gets a transaction: outside one, libsql leaves a write that finds the database locked by another
 * process in progress, and no transaction could begin before the same write ran again.
 */
function runAlone(database: SqliteDatabase, text: string, run: () => { rows: SqlRow[] }): { rows: SqlRow[] } {
  if (OUTSIDE_TRANSACTION.test(text)) return run()
  database.exec('begin immediate')
  try {
    const result = run()
    database.exec('commit')
    return result
  } catch (error) {
    try {
      database.exec('rollback')
    } catch {
      // SQLite itself has rolled the transaction back.
    }
    throw error
  }
}

/**
 * Makes a `SqlClient` from the embedded SQLite of one process. Writes and transactions (`BEGIN IMMEDIATE`) run one after the
 * other on `writer`, so a statement of another caller never joins an open transaction. Transactions that wait at the same time
 * are committed together: a failing one rolls back only its own rows, and no caller learns an outcome before the
 * commit. If that commit fails, all of them reject with `ERR_STORE_UNAVAILABLE`. So work that waits for anything else than `tx` delays
 * the others too. The process reads and answers other requests in between, however many transactions wait. Plain
 * SELECTs run on `reader`, a second connection to the same WAL file that sees committed rows only; without a `reader` they
 * queue too. Inside a transaction use `tx`: a call of the client would wait for its own transaction forever. After a failed statement,
 * `tx` goes on only if the driver says that the transaction is still open.
 */
export function fromSqlite(writer: SqliteDatabase, reader?: SqliteDatabase): SqlClient {
  const write = createRunner(writer)
  const read = reader && createRunner(reader)
  const queue = createWriteQueue(text => void writer.exec(text))

  const db: SqlClient = {
    dialect: 'sqlite',
    async query(text, values = []) {
      assertOutsideTransactionScope(db)
      return read && /^\s*select\b/i.test(text)
        ? orFault('sqlite', async () => read(text, values))
        : queue.alone(() => orFault('sqlite', async () => runAlone(writer, text, () => write(text, values))))
    },
    async transaction(work) {
      assertOutsideTransactionScope(db)
      return queue.inTransaction(async () => {
        const { tx, assertKept, end } = openTransaction(writer, write)
        try {
          const result = await work(tx)
          assertKept()
          return result
        } finally {
          end()
        }
      })
    },
  }
  return db
}

/** Makes the `tx` of one transaction, which rejects statements after `end`. `assertKept` throws if SQLite has rolled it back. */
function openTransaction(
  database: SqliteDatabase,
  write: ReturnType<typeof createRunner>,
): { readonly tx: SqlQueries; assertKept(): void; end(): void } {
  let open = true
  let lost: Fault | undefined
  return {
    tx: {
      dialect: 'sqlite',
      query: async (text, values = []) => {
        if (!open) throw new Error('the transaction has ended: use tx only inside its own work function')
        if (lost) throw lost
        try {
          return write(text, values)
        } catch (error) {
          const fault = toFault('sqlite', error)
          // After some failures, such as a full disk, SQLite has rolled back: a further statement would commit by itself.
          if (!(database.inTransaction ?? database.isTransaction)) lost = fault
          throw fault
        }
      },
    },
    assertKept() {
      if (lost) throw lost
    },
    end() {
      open = false
    },
  }
}
