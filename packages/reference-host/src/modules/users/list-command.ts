import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { HostServices } from '@gatewright/host'
import {
  listCommand,
  type Command,
  type CommandArguments,
  CommandError,
  UsageError,
} from '@gatewright/host/cli'
import { integerArgument, isoOrNull } from '@gatewright/host/internal'
import { walletArgument } from '../find-account.ts'

const MAX_USERS = 1000

const OF_WALLET = 'join gw_wallets w on w.account_id = u.account_id where w.address = $2'
const OLDER = 'where (u.created_at, u.account_id) < ($2, $3)'
const listOf = (condition: string): string => `select u.account_id, u.id, u.partner_id, u.wallet_address,
  u.kyc_status, u.created_at from gw_users u ${condition} order by u.created_at desc, u.account_id desc limit $1`

/** The command that finds users. */
export const listUsersCommand: Command<Pick<HostServices, 'backend'>> = listCommand({
  name: 'users list',
  takes: [],
  options: {
    wallet: 'only the users who signed in with the wallet of this address',
    limit: `how many, 1 to ${MAX_USERS}; default 100`,
    after: 'the last ACCOUNT of the page before: the next page',
  },
  summary: 'List users, newest first, or find them by their wallet',
  example: '--wallet 0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  check: queryOf,
  async rows({ backend }, args) {
    const { limit, wallet, after } = queryOf(args)
    const found =
      wallet === undefined
        ? await newest(backend.sql, limit, after)
        : await rows(backend.sql, listOf(OF_WALLET), [limit, wallet])
    return found.map(row => ({
      accountId: toText(row['account_id']),
      userId: toText(row['id']),
      walletAddress: row['wallet_address'],
      partnerId: row['partner_id'],
      kycStatus: toText(row['kyc_status']),
      createdAt: isoOrNull(toInteger(row['created_at'])),
    }))
  },
  columns: {
    CREATED: 'createdAt',
    ACCOUNT: 'accountId',
    WALLET: 'walletAddress',
    IDENTITY: 'kycStatus',
    PARTNER: 'partnerId',
  },
  dropFirst: ['PARTNER', 'CREATED', 'IDENTITY'],
  empty: 'No such users.',
  note: (users, args) => {
    const last = users.length === queryOf(args).limit ? users.at(-1) : undefined
    return last && `There may be more: --after ${last.accountId}`
  },
})

/** Reads a page of users by their index: `after` is the account of the last user of the page before. */
async function newest(
  db: SqlQueries,
  limit: number,
  after: string | undefined,
): Promise<readonly Record<string, unknown>[]> {
  if (after === undefined) return rows(db, listOf(''), [limit])
  const [last] = await rows(db, 'select created_at from gw_users where account_id = $1', [after])
  if (!last) throw new CommandError(`--after names no account: ${after}`)
  return rows(db, listOf(OLDER), [limit, toInteger(last['created_at']), after])
}

function queryOf({ options: { wallet, limit = '100', after } }: CommandArguments) {
  if (wallet !== undefined && after !== undefined)
    throw new UsageError('--after is for the list of all users, not for that of a --wallet')
  return {
    limit: integerArgument('--limit', limit, 1, MAX_USERS),
    after,
    wallet: wallet === undefined ? undefined : walletArgument('--wallet', wallet),
  }
}
