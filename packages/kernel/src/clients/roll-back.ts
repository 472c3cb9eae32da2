import { stoppable } from '../stoppable.ts'
import type { SqlClient, SqlTransaction } from './sql-client.ts'

/**
 * Runs work in a transaction that it can end without an error: `rollBack` throws, everything is rolled back, and the call resolves to the
 * result that was given to it. The work must let that error out.
 */
export function withRollBack<T>(
  db: SqlClient,
  work: (tx: SqlTransaction, rollBack: (result: T) => never) => Promise<T>,
  options?: Parameters<SqlClient['transaction']>[1],
): Promise<T> {
  return stoppable(rollBack => db.transaction(tx => work(tx, rollBack), options))
}
