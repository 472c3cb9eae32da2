import { orFault } from '../../fault.ts'
import { checkOptions } from '../../options.ts'
import type { SqlClient, SqlTransactionOptions } from '../sql-client.ts'
import { assertOutsideTransactionScope } from '../transaction-scope.ts'
import { createStatementRunner, type PgConnection, type PgQueryable } from './statement-runner.ts'
import { openTransaction } from './transaction.ts'

/** Options of `fromPgPool`. */
export interface PgPoolOptions {
  /**
   * Prepares each statement that has values, once per connection, so that the server does not plan it again.
   * Default false, because a pooler in transaction mode may not support prepared statements. Use it only with a fixed
   * set of statement texts: a prepared statement stays until its connection ends.
   */
  readonly prepare?: boolean
  /**
   * Into how many partitions `migrate` divides each table of account data when it creates the table, 1 to 64, default 1. Tables
   * that exist stay as they are.
   */
  readonly partitions?: number
}

const ignore = (): void => {}

/**
 * Makes a `SqlClient` from a `pg` Pool. Size, TLS and timeouts are set on the pool. The pool needs an `error` listener,
 * because an idle connection that dies would otherwise end the process.
 */
export function fromPgPool(
  pool: PgQueryable & { connect(): Promise<PgConnection> },
  options: PgPoolOptions = {},
): SqlClient {
  const { prepare, partitions } = checkOptions('fromPgPool', options, {
    prepare: { default: false },
    partitions: { min: 1, max: 64, default: 1 },
  })
  const runner = createStatementRunner(prepare)
  const db: SqlClient = {
    dialect: 'postgres',
    partitions,
    async query(text, values = []) {
      assertOutsideTransactionScope(db)
      return runner.run(pool, text, values)
    },
    async transaction(work, transactionOptions: SqlTransactionOptions = {}) {
      const { lazyBegin } = checkOptions('transaction', transactionOptions, { lazyBegin: { default: false } })
      assertOutsideTransactionScope(db)
      const connection = await orFault('postgres', () => pool.connect())
      // The pool listens to idle connections only. A connection that dies in use fails its statements and also emits an
      // error, which would end the process without a listener.
      connection.on('error', ignore)
      const { tx, commit, rollback } = openTransaction(connection, runner, lazyBegin)
      let reusable = false
      try {
        if (!lazyBegin) await runner.run(connection, 'begin', [])
        const result = await work(tx)
        await commit()
        reusable = true
        return result
      } catch (error) {
        reusable = await rollback()
        throw error
      } finally {
        connection.off('error', ignore)
        connection.release(!reusable)
      }
    },
  }
  return db
}
