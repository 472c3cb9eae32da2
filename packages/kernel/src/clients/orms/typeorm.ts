import { fromTransaction, type OrmClient, type OrmOptions } from './orm-client.ts'
import { onPg, type PgClient } from './pg-connection.ts'

/** The part of a query runner of TypeORM that is used. */
export interface QueryRunner {
  connect(): Promise<unknown>
  release(): Promise<void>
}

/**
 * Makes a client over a `DataSource` of TypeORM on Postgres: a handler's transaction is an `EntityManager`. Statements of this package run
 * on its connection of `pg`.
 */
export function fromTypeOrm<Manager extends object>(
  dataSource: {
    /** The manager outside transactions. Only its type is used. */
    readonly manager: Manager
    transaction<T>(work: (manager: Manager) => Promise<T>): Promise<T>
    createQueryRunner(): QueryRunner
  },
  options: OrmOptions = {},
): OrmClient<Manager> {
  return fromTransaction<Manager>(
    {
      name: 'fromTypeOrm',
      dialect: 'postgres',
      async run(text, values, manager) {
        const open = (manager as { readonly queryRunner?: QueryRunner } | undefined)?.queryRunner
        if (manager && !open) throw new TypeError('fromTypeOrm: the manager has no query runner')
        const runner = open ?? dataSource.createQueryRunner()
        try {
          return await onPg((await runner.connect()) as PgClient)(text, values)
        } finally {
          if (!open) await runner.release()
        }
      },
      transaction: work => dataSource.transaction(work),
      root: [{ of: dataSource, methods: ['createQueryRunner'] }],
    },
    options,
  )
}
