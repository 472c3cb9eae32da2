import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { HostServices } from '@gatewright/host'
import { ledgerAccounts, MAX_LISTED, isoOrNull, money } from '@gatewright/host/internal'
import { CommandError, type Command } from '@gatewright/host/cli'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'
import { userMoney } from '../balances/user-money.ts'
import { describeKey } from '../keys/key-output.ts'
import { freezeCommand, unfreezeCommand } from './freeze-commands.ts'
import { frozenAt } from './freeze.ts'
import { listUsersCommand } from './list-command.ts'
import { eraseObstacles, eraseUser } from './erase.ts'
import { ACCOUNT_HELP, accountOf, userAccountOf } from '../find-account.ts'

/** What the commands work with. */
interface UserCommandServices extends Pick<HostServices, 'backend' | 'clock' | 'ledger'> {
  readonly acceptances: AgreementAcceptances
}

const USER = `select u.*, k.id as kyc_id, k.reason, k.submitted_at, k.fields from gw_users u
  left join gw_kyc_applications k on k.account_id = u.account_id where u.account_id = $1`

/** Commands on accounts and the people behind them. What is sealed of them is never printed. */
export const commands: readonly Command<UserCommandServices>[] = [
  listUsersCommand,
  {
    name: 'accounts show',
    takes: ['ACCOUNT'],
    summary: `Show whose an account is, its money, keys, sessions and cards. ${ACCOUNT_HELP}`,
    example: 'acc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52',
    async run(context, { positional: [owner = ''] }) {
      const accountId = await accountOf(context.backend.sql, owner)
      const data = {
        accountId,
        ...(await ownerOf(context, accountId)),
        ...(await accessOf(context, accountId)),
      }
      return { data, fields: data }
    },
  },
  freezeCommand,
  unfreezeCommand,
  {
    name: 'users show',
    takes: ['USER'],
    summary:
      'Show a user, and which personal data is stored. USER is a user or account id, or a wallet address',
    example: 'usr_79db7a61096340598de4661d67683883',
    async run({ backend: { sql }, acceptances }, { positional: [owner = ''] }) {
      const accountId = await userAccountOf(sql, owner)
      const [row] = await rows(sql, USER, [accountId])
      const acceptedAt = await acceptances.acceptedAt(sql, accountId)
      const data = {
        ...describeUser(row as SqlRow),
        // 0 means that there is nothing to accept.
        agreementsAcceptedAt: isoOrNull(acceptedAt || null),
        ...(await eraseObstacles(sql, accountId)),
      }
      return { data, fields: data }
    },
  },
  {
    name: 'users erase',
    takes: ['USER_ID'],
    summary: 'Erase the profile, KYC fields and data key of a user without money and open cards',
    example: 'usr_79db7a61096340598de4661d67683883',
    confirm: 'What is erased, and what the user encrypted with its data key, cannot be read again.',
    async subject({ backend: { sql } }, { positional: [userId = ''] }) {
      return `Erase the personal data of ${userId} (${await userAccountOf(sql, userId)}).`
    },
    async run({ backend: { sql } }, { positional: [userId = ''] }) {
      const result = await sql.transaction(tx => eraseUser(tx, userId))
      if (result.erased) {
        return { data: { userId, ...result }, lines: [`${userId} is erased.`] }
      }
      if (!result.obstacles) throw new CommandError(`no user ${userId}`)
      const { moneyCents, openCards } = result.obstacles
      throw new CommandError(
        `${userId} has ${money(moneyCents)} and ${openCards} open cards: pay out the money and cancel the cards first`,
      )
    },
  },
]

function describeUser(row: SqlRow): Record<string, unknown> {
  const submittedAt = row['submitted_at']
  return {
    userId: row['id'],
    accountId: row['account_id'],
    partnerId: row['partner_id'],
    externalId: row['external_id'],
    walletAddress: row['wallet_address'],
    walletLabel: row['wallet_label'],
    createdAt: isoOrNull(toInteger(row['created_at'])),
    kycStatus: row['kyc_status'],
    kycId: row['kyc_id'],
    kycReason: row['reason'],
    kycSubmittedAt: submittedAt === null ? null : isoOrNull(toInteger(submittedAt)),
    hasProfile: row['profile'] !== null,
    hasKycFields: row['fields'] !== null,
    hasDataKey: row['data_key'] !== null,
  }
}

async function ownerOf(
  { backend: { sql }, ledger }: UserCommandServices,
  accountId: string,
): Promise<Record<string, unknown>> {
  const [user] = await rows(sql, 'select * from gw_users where account_id = $1', [accountId])
  if (!user) {
    const [partner] = await rows(sql, 'select * from gw_partners where id = $1', [accountId])
    const users = await count(
      sql,
      'select count(*) as n from gw_partner_users where partner_id = $1',
      accountId,
    )
    const { name, created_at: createdAt } = partner as SqlRow
    return { kind: 'partner', name: toText(name), createdAt: isoOrNull(toInteger(createdAt)), users }
  }
  const cards = "select count(*) as n from gw_cards where account_id = $1 and status <> 'canceled'"
  const subscriptions = 'select count(*) as n from gw_subscriptions where account_id = $1'
  return {
    kind: 'user',
    userId: user['id'],
    partnerId: user['partner_id'],
    externalId: user['external_id'],
    walletAddress: user['wallet_address'],
    kycStatus: user['kyc_status'],
    frozenAt: isoOrNull(await frozenAt(sql, accountId)),
    createdAt: isoOrNull(toInteger(user['created_at'])),
    balanceCents: await ledger.balance(sql, ledgerAccounts.user(accountId)),
    moneyCents: await userMoney(sql, accountId),
    cards: await count(sql, cards, accountId),
    subscriptions: await count(sql, subscriptions, accountId),
  }
}

async function accessOf({ backend, clock }: UserCommandServices, accountId: string): Promise<object> {
  const now = clock.now()
  const { keys } = await backend.issuer.keys.load(accountId)
  const sessions = await backend.issuer.sessions.list(accountId, MAX_LISTED, now)
  const live = keys.filter(key => describeKey(key, now).state === 'live')
  return { liveKeys: live.length, liveSessions: sessions.length }
}

async function count(sql: SqlQueries, text: string, accountId: string): Promise<number> {
  const [row] = await rows(sql, text, [accountId])
  return toInteger(row?.['n'])
}
