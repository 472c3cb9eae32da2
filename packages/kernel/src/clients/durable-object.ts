import { orFault } from '../fault.ts'
import { inOrder, toPositional } from './positional.ts'
import type { SqlClient, SqlQueries, SqlReply, SqlRow, SqlValue } from './sql-client.ts'
import { assertOutsideTransactionScope } from './transaction-scope.ts'
import { createTurns } from './turns.ts'

/** The part of `ctx.storage` of a Durable Object with SQLite that is used. */
export interface DurableObjectStorage {
  readonly sql: { exec(text: string, ...values: never[]): { toArray(): unknown[] } }
  transaction<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Makes a `SqlClient` from the storage of a Durable Object whose class has SQLite (`ctx.storage`), for the adapters of SQLite. Statements and
 * transactions run one after the other. The object has one connection: a statement that other code runs with `ctx.storage` while a
 * transaction waits for something else becomes part of it, so use only this client.
 */
export function fromDurableObject(storage: DurableObjectStorage): SqlClient {
  const inTurn = createTurns()
  const run = (text: string, values: readonly SqlValue[] = []): Promise<SqlReply> =>
    orFault('sqlite', async () => {
      const { plain, order } = toPositional(text)
      const sent = inOrder(order, values).map(toParameter) as never[]
      return {
        rows: storage.sql
          .exec(plain, ...sent)
          .toArray()
          .map(toRow),
      }
    })
  const db: SqlClient = {
    dialect: 'sqlite',
    async query(text, values) {
      assertOutsideTransactionScope(db)
      return inTurn(() => run(text, values))
    },
    async transaction(work) {
      assertOutsideTransactionScope(db)
      return inTurn(() => transact(storage, run, work))
    },
  }
  return db
}

async function transact<T>(
  storage: DurableObjectStorage,
  run: SqlQueries['query'],
  work: (tx: SqlQueries) => Promise<T>,
): Promise<T> {
  let ended = false
  const tx: SqlQueries = {
    dialect: 'sqlite',
    async query(text, values) {
      if (ended) throw new Error('the transaction has ended: use tx only inside its own work function')
      return run(text, values)
    },
  }
  let failure: { readonly error: unknown } | undefined
  const runWork = async (): Promise<T> => {
    try {
      return await work(tx)
    } catch (error) {
      failure = { error }
      throw error
    } finally {
      ended = true
    }
  }
  try {
    return await orFault('sqlite', () => storage.transaction(runWork))
  } catch (error) {
    throw failure ? failure.error : error
  }
}

/** The storage takes no `bigint`. A column of integers turns a text of digits into its number. */
function toParameter(value: SqlValue): unknown {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

/** The storage returns bytes as an `ArrayBuffer`. */
function toRow(row: unknown): SqlRow {
  const columns = Object.entries(row as SqlRow)
  return Object.fromEntries(
    columns.map(([name, value]) => [name, value instanceof ArrayBuffer ? new Uint8Array(value) : value]),
  )
}
