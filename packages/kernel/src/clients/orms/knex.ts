import { createOrmClient, type OrmClient, type OrmOptions } from './orm-client.ts'
import { onPg, onPooled, type PgClient } from './pg-connection.ts'

/** The pool of Knex. In a transaction it has one connection. */
interface KnexConnections {
  acquireConnection(): Promise<PgClient>
  releaseConnection(connection: PgClient): Promise<unknown>
}

/**
 * Makes a client over Knex on Postgres: a handler's transaction is a `Knex.Transaction`. Statements of this package run on its connection
 * of `pg`, so `wrapIdentifier` and `postProcessResponse` do not change them.
 */
export function fromKnex<Tx extends object>(
  knex: {
    transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
    // Knex types it as any.
    readonly client: KnexConnections
  },
  options: OrmOptions = {},
): OrmClient<Tx> {
  const { client } = knex
  return createOrmClient<Tx>(
    {
      name: 'fromKnex',
      dialect: 'postgres',
      run: onPooled(
        () => client.acquireConnection(),
        connection => client.releaseConnection(connection),
      ),
      runIn: tx => async (text, values) => {
        const inTransaction = (tx as unknown as { readonly client: KnexConnections }).client
        return onPg(await inTransaction.acquireConnection())(text, values)
      },
      transaction: work => knex.transaction(work),
      root: [{ of: client, methods: ['acquireConnection'] }],
    },
    options,
  )
}
