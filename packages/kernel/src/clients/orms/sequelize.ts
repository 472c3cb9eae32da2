import { createOrmClient, type OrmClient, type OrmOptions } from './orm-client.ts'
import { onPg, onPooled, type PgClient } from './pg-connection.ts'

/** The pool of Sequelize, which its types do not declare. */
interface SequelizeConnections {
  getConnection(): Promise<PgClient>
  releaseConnection(connection: PgClient): Promise<void>
}

/**
 * Makes a client over Sequelize on Postgres: a handler's transaction is a `Transaction`. Pass it to every call as the option `transaction`:
 * a call without it uses another connection, and rejects inside a run. Statements of this package run on its connection of `pg`.
 */
export function fromSequelize<Tx extends object>(
  sequelize: {
    transaction<T>(work: (tx: Tx) => PromiseLike<T>): Promise<T>
    transaction(options?: undefined): Promise<Tx>
  },
  options: OrmOptions = {},
): OrmClient<Tx> {
  const { connectionManager } = sequelize as unknown as {
    readonly connectionManager: SequelizeConnections
  }
  return createOrmClient<Tx>(
    {
      name: 'fromSequelize',
      dialect: 'postgres',
      run: onPooled(
        () => connectionManager.getConnection(),
        connection => connectionManager.releaseConnection(connection),
      ),
      runIn: tx => onPg((tx as { readonly connection?: unknown }).connection as PgClient),
      transaction: work => sequelize.transaction(work),
      root: [{ of: connectionManager, methods: ['getConnection'] }],
    },
    options,
  )
}
