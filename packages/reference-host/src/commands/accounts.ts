import { rows, toInteger, toText, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import type { KeyRecord } from '@gatewright/session-issuer'
import { type Command, UsageError } from '@gatewright/host/cli'
import { ledgerAccounts } from '@gatewright/host'
import { userMoney } from '../modules/balances/user-money.ts'
import { accountOf, fieldTable, isoOrNull } from './find-account.ts'
import type { Services } from '../services/services.ts'

/** How many sessions `sessions list` prints at most. */
const MAX_SESSIONS = 1000

/** Commands that show the keys and sessions of an account, and what it has. None shows a secret. */
export const accountCommands: readonly Command<Services>[] = [
  {
    name: 'keys list',
    takes: ['ACCOUNT'],
    summary: 'List the API keys of an account, newest first. ACCOUNT is an account, user or partner id',
    example: 'usr_79db7a61096340598de4661d67683883',
    async run({ backend, clock }, { positional: [owner = ''] }) {
      const { keys } = await backend.issuer.keys.load(await accountOf(backend.sql, owner))
      const sorted = keys.toSorted((a, b) => b.createdAt - a.createdAt)
      const data = sorted.map(key => describeKey(key, clock.now()))
      const rows = data.map(key => [
        key.id,
        key.keyPrefix,
        key.state,
        key.createdAt ?? '-',
        key.lastUsedAt ?? '-',
        key.scopes.join(' ') || '-',
      ])
      const head = ['KEY', 'PREFIX', 'STATE', 'CREATED', 'LAST USED', 'SCOPES']
      return { data, table: [head, ...rows], empty: 'No keys.' }
    },
  },
  {
    name: 'keys show',
    takes: ['KEY_ID'],
    summary: 'Show an API key with its policies, from the root of its chain to its own',
    example: '4fJ2sVbXq81TzKpL',
    async run({ backend, clock }, { positional: [keyId = ''] }) {
      const key = await backend.issuer.keys.find(keyId)
      if (!key) throw new UsageError(`no key ${keyId}`)
      const policies = await backend.issuer.keys.policies(key.policyIds)
      const documentOf = (id: string): unknown => policies.find(policy => policy.id === id)?.document ?? null
      const data = {
        ...describeKey(key, clock.now()),
        policies: key.policyIds.map(id => ({ id, document: documentOf(id) })),
      }
      return { data, table: fieldTable(data) }
    },
  },
  {
    name: 'sessions list',
    takes: ['ACCOUNT'],
    summary: `List the live sessions of an account, at most ${MAX_SESSIONS}, latest end first`,
    example: 'usr_79db7a61096340598de4661d67683883',
    async run({ backend, clock }, { positional: [owner = ''] }) {
      const accountId = await accountOf(backend.sql, owner)
      const found = await backend.issuer.sessions.list(accountId, MAX_SESSIONS, clock.now())
      const data = found.map(({ sessionId, keyId, surface, scopes, label, ancestry, ...session }) => ({
        sessionId,
        keyId,
        surface,
        scopes,
        label,
        mintedFrom: ancestry.at(-1) ?? null,
        createdAt: isoOrNull(session.issuedAt),
        expiresAt: isoOrNull(session.expiresAt),
      }))
      const rows = data.map(session => [
        session.sessionId,
        session.keyId,
        session.label ?? '-',
        session.expiresAt ?? '-',
        session.scopes.join(' ') || '-',
      ])
      return {
        data,
        table: [['SESSION', 'KEY', 'LABEL', 'EXPIRES', 'SCOPES'], ...rows],
        empty: 'No live sessions.',
      }
    },
  },
  {
    name: 'accounts show',
    takes: ['ACCOUNT'],
    summary: 'Show whose an account is, its money, and how many keys, sessions and cards it has',
    example: 'acc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52',
    async run(context, { positional: [owner = ''] }) {
      const accountId = await accountOf(context.backend.sql, owner)
      const data = {
        accountId,
        ...(await ownerOf(context, accountId)),
        ...(await accessOf(context, accountId)),
      }
      return { data, table: fieldTable(data) }
    },
  },
]

/** Returns the members of a key that commands show: never its digest. */
export function describeKey(key: KeyRecord, now: number) {
  const expired = key.expiresAt !== null && key.expiresAt <= now
  return {
    id: key.id,
    keyPrefix: key.prefix,
    surface: key.surface,
    accountId: key.accountId,
    state: key.revokedAt === null ? (expired ? 'expired' : 'live') : 'revoked',
    scopes: key.scopes,
    parentId: key.parentId,
    successorId: key.successorId,
    createdBy: key.createdBy,
    rotatedBy: key.rotatedBy,
    createdAt: isoOrNull(key.createdAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
  }
}

async function ownerOf(
  { backend: { sql }, ledger }: Services,
  accountId: string,
): Promise<Record<string, unknown>> {
  const [user] = await rows(sql, 'select * from gw_users where account_id = $1', [accountId])
  if (!user) {
    const [partner] = await rows(sql, 'select * from gw_partners where id = $1', [accountId])
    const users = await count(sql, 'select count(*) as n from gw_users where partner_id = $1', accountId)
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
    createdAt: isoOrNull(toInteger(user['created_at'])),
    balanceCents: await ledger.balance(sql, ledgerAccounts.user(accountId)),
    moneyCents: await userMoney(sql, accountId),
    cards: await count(sql, cards, accountId),
    subscriptions: await count(sql, subscriptions, accountId),
  }
}

async function accessOf({ backend, clock }: Services, accountId: string): Promise<object> {
  const now = clock.now()
  const { keys } = await backend.issuer.keys.load(accountId)
  const sessions = await backend.issuer.sessions.list(accountId, MAX_SESSIONS, now)
  const live = keys.filter(key => describeKey(key, now).state === 'live')
  return { liveKeys: live.length, liveSessions: sessions.length }
}

async function count(sql: SqlQueries, text: string, accountId: string): Promise<number> {
  const [row] = await rows(sql, text, [accountId])
  return toInteger(row?.['n'])
}
