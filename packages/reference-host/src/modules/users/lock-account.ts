import { rowLock, rows, type SqlQueries } from '@gatewright/kernel/sql'

/**
 * Locks the row of an account until the transaction ends, before anything else in the transaction is locked. Of two transactions that
 * lock the same account, the second waits here and then sees what the first has committed, so what it counts stays true until it ends.
 * Rows that only refer to the account are still inserted meanwhile.
 */
export async function lockAccount(tx: SqlQueries, accountId: string): Promise<void> {
  await rows(tx, `select 1 from gw_users where account_id = $1${rowLock(tx, 'for no key update')}`, [
    accountId,
  ])
}
