import { rows, toInteger, type SqlRow } from '@gatewright/kernel/sql'
import { type Command, UsageError } from '@gatewright/host/cli'
import { eraseObstacles, eraseUser } from '../modules/users/erase.ts'
import { fieldTable, isoOrNull, userAccountOf } from './find-account.ts'
import type { Services } from '../services/services.ts'

const USER = `select u.*, k.id as kyc_id, k.reason, k.submitted_at, k.fields from gw_users u
  left join gw_kyc_applications k on k.account_id = u.account_id where u.account_id = $1`

/** Commands on the people behind accounts. What is sealed of them is never printed. */
export const userCommands: readonly Command<Services>[] = [
  {
    name: 'users show',
    takes: ['USER'],
    summary: 'Show a user, and which personal data is stored. USER is a user or account id',
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
      return { data, table: fieldTable(data) }
    },
  },
  {
    name: 'users erase',
    takes: ['USER_ID'],
    summary: 'Erase the profile, KYC fields and data key of a user without money and open cards',
    example: 'usr_79db7a61096340598de4661d67683883',
    confirm: 'What is erased, and what the user encrypted with its data key, cannot be read again.',
    async run({ backend: { sql } }, { positional: [userId = ''] }) {
      const result = await sql.transaction(tx => eraseUser(tx, userId))
      if (result.erased) {
        return { data: { userId, ...result }, lines: [`${userId} is erased.`] }
      }
      if (!result.obstacles) throw new UsageError(`no user ${userId}`)
      const { moneyCents, openCards } = result.obstacles
      throw new UsageError(
        `${userId} has ${moneyCents} US cents and ${openCards} open cards: pay out the money and cancel the cards first`,
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
