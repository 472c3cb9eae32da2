import { orFault } from '../../fault.ts'
import { checkOptions } from '../../options.ts'
import type { SqlClient, SqlTransaction, SqlTransactionOptions } from '../sql-client.ts'
import { assertOutsideTransactionScope } from '../transaction-scope.ts'
import { withRetries, type Attempt, type RetryReason } from './retries.ts'
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
   * How often a statement or transaction runs again that the database has rolled back because of simultaneous ones (SQLSTATE 40001 or
   * 40P01), or because tables have changed since a statement was prepared, 0 to 100, default 0. Each time it waits for up to 4 ms, 8 ms and so on to 500 ms, and no retry begins 10 s after the first
   * attempt. A transaction runs again with its whole work function, which must have no effect but its statements. It never does once its
   * COMMIT was sent, unless the database itself replied that it rolled it back.
   */
  readonly retries?: number
  /** Called before each retry. Default: nothing. */
  readonly onRetry?: (reason: RetryReason) => void
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
  const { prepare, retries, onRetry } = checkOptions('fromPgPool', options, {
    prepare: { default: false },
    retries: { min: 0, max: 100, default: 0 },
    onRetry: { is: 'function', default: ignore },
  })
  const runner = createStatementRunner(prepare)
  const repeated = { most: retries, onRetry }
  const transact = async <T>(
    work: (tx: SqlTransaction) => Promise<T>,
    lazyBegin: boolean,
    attempt: Attempt,
  ): Promise<T> => {
    const connection = await orFault('postgres', () => pool.connect())
    // The pool listens to idle connections only. A connection that dies in use fails its statements and also emits an
    // error, which would end the process without a listener.
    connection.on('error', ignore)
    const { tx, commit, rollback, mayBeCommitted } = openTransaction(connection, runner, lazyBegin)
    let reusable = false
    try {
      if (!lazyBegin) await runner.run(connection, 'begin', [])
      const result = await work(tx)
      await commit()
      reusable = true
      return result
    } catch (error) {
      reusable = await rollback()
      attempt.mayBeCommitted = await mayBeCommitted()
      throw error
    } finally {
      connection.off('error', ignore)
      connection.release(!reusable)
    }
  }
  const db: SqlClient = {
    dialect: 'postgres',
    async query(text, values = []) {
      assertOutsideTransactionScope(db)
      return withRetries(repeated, () => runner.run(pool, text, values))
    },
    async transaction(work, transactionOptions: SqlTransactionOptions = {}) {
      const { lazyBegin } = checkOptions('transaction', transactionOptions, { lazyBegin: { default: false } })
      assertOutsideTransactionScope(db)
      return withRetries(repeated, attempt => transact(work, lazyBegin, attempt))
    },
  }
  return db
}
