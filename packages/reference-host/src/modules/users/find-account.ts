import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import { UsageError } from '@gatewright/host/internal'

/** Returns the account of a user id, which has the same digits. Other texts are returned unchanged. */
export function accountOfUser(userId: string): string {
  return userId.replace(/^usr_/, 'acc_')
}

/** Finds the account of a user by the id of either. Throws a `UsageError` for an unknown id. */
export async function userAccountOf(sql: SqlQueries, owner: string): Promise<string> {
  const accountId = accountOfUser(owner)
  const [row] = await rows(sql, 'select account_id from gw_users where account_id = $1', [accountId])
  if (!row) throw new UsageError(`no user or account ${owner}`)
  return toText(row['account_id'])
}

/** Finds an account by its id, a user id or a partner id, which is the id of the partner's account. */
export async function accountOf(sql: SqlQueries, owner: string): Promise<string> {
  const partners = await rows(sql, 'select id from gw_partners where id = $1', [owner])
  return partners.length > 0 ? owner : userAccountOf(sql, owner)
}
