import { inOrder, toPositional } from '../positional.ts'
import type { SqlRow } from '../sql-client.ts'
import { fromTransaction, type OrmClient, type OrmOptions, type RunStatement } from './orm-client.ts'

/** The part of a client of `@libsql/client`, and of its transaction, that is used. */
export interface LibsqlQueries {
  execute(statement: {
    sql: string
    args: never[]
  }): Promise<{ readonly columns: readonly string[]; readonly rows: readonly unknown[] }>
}

/** The functions of `@libsql/client` that use a connection. */
export const LIBSQL_METHODS: readonly string[] = ['execute', 'batch', 'transaction', 'executeMultiple']

/** Runs statements with `@libsql/client`. */
export function onLibsql(queries: LibsqlQueries): RunStatement {
  return async (text, values) => {
    const { plain, order } = toPositional(text)
    const { columns, rows } = await queries.execute({ sql: plain, args: inOrder(order, values) as never[] })
    return { rows: rows.map(row => toRow(columns, row as Readonly<Record<number, unknown>>)) }
  }
}

/** A row of the driver is a list with names that are not enumerable, and its blobs are of the type `ArrayBuffer`. */
function toRow(columns: readonly string[], row: Readonly<Record<number, unknown>>): SqlRow {
  const values = columns.map((column, index) => {
    const value = row[index]
    return [column, value instanceof ArrayBuffer ? new Uint8Array(value) : value] as const
  })
  return Object.fromEntries(values)
}

/**
 * Makes a client over `@libsql/client`: a handler's transaction is a `Transaction`. Transactions run one after the other. With a file, set
 * `timeout` if other processes write too.
 */
export function fromLibsqlClient<
  Tx extends LibsqlQueries & { commit(): Promise<void>; rollback(): Promise<void>; close(): void },
>(
  client: LibsqlQueries & { transaction(mode: 'write'): Promise<Tx> },
  options: OrmOptions = {},
): OrmClient<Tx> {
  return fromTransaction<Tx>(
    {
      name: 'fromLibsqlClient',
      dialect: 'sqlite',
      run: (text, values, tx) => onLibsql(tx ?? client)(text, values),
      async transaction(work) {
        const tx = await client.transaction('write')
        try {
          await work(tx)
          await tx.commit()
        } finally {
          // Rolls back, if the transaction is open.
          tx.close()
        }
      },
      root: [{ of: client, methods: LIBSQL_METHODS }],
    },
    options,
  )
}
