import { malformedReply } from '@gatewright/kernel'
import { rowLock, type SqlQueries } from '@gatewright/kernel/sql'
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
