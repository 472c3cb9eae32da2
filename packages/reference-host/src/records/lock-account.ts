import { rows, type SqlDialect, type SqlQueries } from '@gatewright/kernel/sql'

/**
 * Locks the row of an account until the transaction ends, before anything else in the transaction is locked. Of two transactions that
 * lock the same account, the second waits here and then sees what the first has committed, so what it counts stays true until it ends.
 * Rows that only refer to the account are still inserted meanwhile. SQLite needs no lock: it has one writer.
 */
export async function lockAccount(tx: SqlQueries, dialect: SqlDialect, accountId: string): Promise<void> {
  const forUpdate = dialect === 'postgres' ? ' for no key update' : ''
  await rows(tx, `select 1 from gw_users where account_id = $1${forUpdate}`, [accountId])
}
