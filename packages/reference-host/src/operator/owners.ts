import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import { isoOrNull } from '@gatewright/host/internal'

/** Whose an account is. The account of a partner has keys and nothing else. */
export interface Owner {
  readonly accountId: string
  readonly kind: 'user' | 'partner'
  /** The wallet of a user; of a partner's user the one that the partner has named. Null: none, or a partner. */
  readonly wallet: string | null
  /** The name of a partner; null for a user. */
  readonly name: string | null
  /** The partner that a user belongs to, and what that partner calls the user. */
  readonly partnerId: string | null
  readonly externalId: string | null
  readonly kycStatus: string | null
  /** Null: the account is not frozen. */
  readonly frozenAt: string | null
  readonly createdAt: string | null
}

/** Finds the owners of accounts, in the order of the ids. Ids that name no account are left out. */
export async function ownersOf(sql: SqlQueries, accountIds: readonly string[]): Promise<readonly Owner[]> {
  if (accountIds.length === 0) return []
  const places = accountIds.map((_, index) => `$${index + 1}`).join(', ')
  const users = await rows(sql, `select * from gw_users where account_id in (${places})`, accountIds)
  const partners = await rows(sql, `select * from gw_partners where id in (${places})`, accountIds)
  const found = new Map(
    [...users.map(userOf), ...partners.map(partnerOf)].map(owner => [owner.accountId, owner]),
  )
  return accountIds.flatMap(id => found.get(id) ?? [])
}

const textOrNull = (value: unknown): string | null => (value === null ? null : toText(value))
const instantOrNull = (value: unknown): string | null => (value === null ? null : isoOrNull(toInteger(value)))

function userOf(row: SqlRow): Owner {
  return {
    accountId: toText(row['account_id']),
    kind: 'user',
    wallet: textOrNull(row['wallet_address']),
    name: null,
    partnerId: textOrNull(row['partner_id']),
    externalId: textOrNull(row['external_id']),
    kycStatus: toText(row['kyc_status']),
    frozenAt: instantOrNull(row['frozen_at']),
    createdAt: instantOrNull(row['created_at']),
  }
}

function partnerOf(row: SqlRow): Owner {
  return {
    accountId: toText(row['id']),
    kind: 'partner',
    wallet: null,
    name: toText(row['name']),
    partnerId: null,
    externalId: null,
    kycStatus: null,
    frozenAt: null,
    createdAt: instantOrNull(row['created_at']),
  }
}
