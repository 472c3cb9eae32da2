import { rowLock, rows, type SqlQueries } from '@gatewright/kernel/sql'

/**
 * Locks the row of an account until the transaction ends, before anything else in the transaction is locked. If two
 * transactions lock the same account, the second waits and then sees the rows that the first has committed, so that its counts
 * are valid until it ends. Transactions that only insert rows which refer to the account do not wait.
 */
export async function lockAccount(tx: SqlQueries, accountId: string): Promise<void> {
  await rows(tx, `select 1 from gw_users where account_id = $1${rowLock(tx, 'for no key update')}`, [
    accountId,
  ])
}
