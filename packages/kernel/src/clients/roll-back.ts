import type { SqlClient, SqlTransaction } from './sql-client.ts'

/**
 * Runs work in a transaction that it can end without an error: `rollBack` throws, everything is rolled back, and the call resolves to the
 * result that was given to it. The work must let that error out.
 */
export async function withRollBack<T>(
  db: SqlClient,
  work: (tx: SqlTransaction, rollBack: (result: T) => never) => Promise<T>,
  options?: Parameters<SqlClient['transaction']>[1],
): Promise<T> {
  let rolledBack: { readonly result: T } | undefined
  const rollBack = (result: T): never => {
    rolledBack = { result }
    throw new Error('the transaction is rolled back: let this error out')
  }
  try {
    return await db.transaction(tx => work(tx, rollBack), options)
  } catch (error) {
    if (!rolledBack) throw error
    return rolledBack.result
  }
}
