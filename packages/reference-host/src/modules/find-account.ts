import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import { CommandError, UsageError } from '@gatewright/host/cli'
import { isEthereumAddress } from '../chain/addresses.ts'

/** What an ACCOUNT of a command may be. */
export const ACCOUNT_HELP = 'ACCOUNT is an account, user or partner id, or the address of a wallet'

/** Returns the account of a user id, which has the same digits. Other texts are returned unchanged. */
export function accountOfUser(userId: string): string {
  return userId.replace(/^usr_/, 'acc_')
}

/** Reads the address of a wallet. Throws a `UsageError`. */
export function walletArgument(name: string, text: string): string {
  if (isEthereumAddress(text)) return text.toLowerCase()
  throw new UsageError(
    `${name} must be 0x and 40 hex digits, with a valid checksum if in mixed case, got ${JSON.stringify(text)}`,
  )
}

/** Returns the accounts that signed in with a wallet: one, or several if contracts of other chains have the same address. */
export async function accountsOfWallet(sql: SqlQueries, address: string): Promise<readonly string[]> {
  const text = 'select account_id from gw_wallets where address = $1 order by wallet'
  return (await rows(sql, text, [address])).map(row => toText(row['account_id']))
}

/**
 * Finds the account of a user by the id of either, or by the address of its wallet. Throws a `CommandError` for an unknown one, and
 * for an address of several accounts.
 */
export async function userAccountOf(sql: SqlQueries, owner: string): Promise<string> {
  if (owner.startsWith('0x')) {
    const found = await accountsOfWallet(sql, walletArgument('ACCOUNT', owner))
    if (found.length > 1)
      throw new CommandError(`${owner} is the wallet of several accounts: give one of ${found.join(', ')}`)
    if (found[0] === undefined) throw new CommandError(`no account has signed in with the wallet ${owner}`)
    return found[0]
  }
  const accountId = accountOfUser(owner)
  const [row] = await rows(sql, 'select account_id from gw_users where account_id = $1', [accountId])
  if (!row) throw new CommandError(`no user or account ${owner}: see npx gatewright users list`)
  return toText(row['account_id'])
}

/** Finds an account by the id of a partner, which is the id of the partner's account, or as `userAccountOf`. */
export async function accountOf(sql: SqlQueries, owner: string): Promise<string> {
  const partners = await rows(sql, 'select id from gw_partners where id = $1', [owner])
  return partners.length > 0 ? owner : userAccountOf(sql, owner)
}
