import { malformedReply } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { defer, rowLock } from '@gatewright/kernel/internal/sql'
import { userTable, type User } from './store.ts'

/**
 * Locks the row of an account until the transaction ends, before anything else in the transaction is locked, and returns its
 * user as it is then. If two transactions lock the same account, the second waits and then sees the rows that the first has
 * committed, so that its counts are valid until it ends. Transactions that only insert rows which refer to the account do not
 * wait. Fault `ERR_STORE_REPLY` for an account without a user: without a row, nothing would be locked.
 */
export async function lockAccount(tx: SqlQueries, accountId: string): Promise<User> {
  const conditions = `where account_id = $1${rowLock(tx, 'for no key update')}`
  const [user] = await userTable.select(tx, conditions, [accountId])
  if (!user) throw malformedReply('database', 'the user of an account')
  return user
}

/** Fails if it locks no row: `1 / 0`. The count is outside, because an aggregate cannot lock rows. */
const LOCK = `select 1 / count(*) as locked
  from (select 1 from gw_users where account_id = $1 for no key update) locked_user`

/**
 * Locks the row of an account as `lockAccount` does, in the round trip of the next statement. That statement sees the rows that
 * others have committed before, so it may count them. For an account without a user it fails, with the fault
 * `ERR_STORE_UNAVAILABLE`.
 */
export async function lockAccountFirst(tx: SqlQueries, accountId: string): Promise<void> {
  // SQLite has one writer, so nothing needs a lock.
  if (tx.dialect === 'postgres') await defer(tx, LOCK, [accountId])
  else await lockAccount(tx, accountId)
}
