import { createOrmClient, type OrmClient, type OrmOptions } from './orm-client.ts'
import { onPg, type PgClient } from './pg-connection.ts'

/** The part of a query runner of TypeORM that is used. */
interface QueryRunner {
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
  return createOrmClient<Manager>(
    {
      name: 'fromTypeOrm',
      dialect: 'postgres',
      async run(text, values) {
        const runner = dataSource.createQueryRunner()
        try {
          return await onPg((await runner.connect()) as PgClient)(text, values)
        } finally {
          await runner.release()
        }
      },
      runIn: manager => async (text, values) => {
        const { queryRunner } = manager as { readonly queryRunner?: QueryRunner }
        if (!queryRunner) throw new TypeError('fromTypeOrm: the manager has no query runner')
        return onPg((await queryRunner.connect()) as PgClient)(text, values)
      },
      transaction: work => dataSource.transaction(work),
      root: [{ of: dataSource, methods: ['createQueryRunner'] }],
    },
    options,
  )
}
