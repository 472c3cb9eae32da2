import { allow, type EpochMs, type Verdict } from '@gatewright/kernel'
import { heldKeysOf, isoOrNull, operatorActions } from '@gatewright/host/internal'
import type { KeyRecord } from '@gatewright/session-issuer'
import { readUserMoney } from '../modules/balances/user-money.ts'
import { openCardsOfKeys } from '../modules/cards/ended-keys.ts'
import type { Card } from '../modules/cards/card.ts'
import { cards } from '../modules/cards/store.ts'
import { describeKey } from '../modules/keys/key-output.ts'
import { liveSessionsOf } from '../modules/keys/live-sessions.ts'
import { payins } from '../modules/subscriptions/payins/payin-store.ts'
import { limitsOf, limitWords } from '../product/limit-words.ts'
import { deny, type OperatorDenial } from './codes.ts'
import { ownersOf } from './owners.ts'
import { refusalsOf } from './requests.ts'
import type { OperatorServices } from './services.ts'

type AccountServices = Pick<
  OperatorServices,
  'sql' | 'clock' | 'keys' | 'issuer' | 'backend' | 'requestLog' | 'operationTitles'
>

/** How many keys, cards and sessions of an account are listed. Commands print more. */
const MOST = 100
const MOST_REFUSALS = 10
const MOST_ACTIONS = 10

/**
 * Describes an account for an incident: whose it is, its money, keys, open cards, live sessions, the latest refusals and what operators did to it. `id` is that of
 * an account or a partner. Denial: `not_found`.
 */
export async function describeAccount(
  services: AccountServices,
  query: URLSearchParams,
): Promise<Verdict<object, OperatorDenial>> {
  const { sql, backend, clock } = services
  const accountId = query.get('id') ?? ''
  const [owner] = await ownersOf(sql, [accountId])
  if (!owner) return deny('not_found', 'No account has this id.')
  const now = clock.now()
  const { keys } = await backend.issuer.keys.load(accountId)
  const sessions = await liveSessionsOf(backend.issuer, accountId, now)
  const open = await cards.page(sql, accountId, { after: 0, limit: MOST + 1, open: true })
  const actions = await operatorActions.list(sql, MOST_ACTIONS, accountId)
  return allow({
    ...owner,
    money: owner.kind === 'user' ? await moneyOf(services, accountId) : null,
    keys: await describeKeys(services, keys, now),
    moreKeys: keys.length > MOST,
    cards: open.slice(0, MOST).map(card => describeCard(card, keys)),
    moreCards: open.length > MOST,
    sessions: sessions.slice(0, MOST).map(({ sessionId, keyId, label, issuedAt, expiresAt }) => ({
      sessionId,
      keyId,
      label,
      issuedAt: isoOrNull(issuedAt),
      expiresAt: isoOrNull(expiresAt),
    })),
    liveSessions: sessions.length,
    refusals: await refusalsOf(services, accountId, MOST_REFUSALS),
    actions: actions.map(({ at, command, detail }) => ({ at: isoOrNull(at), command, detail })),
  })
}

/** Whether a key has not ended. It may be paused. */
const isLive = ({ revokedAt, expiresAt }: KeyRecord, now: EpochMs): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now)

async function moneyOf({ sql }: AccountServices, accountId: string): Promise<object> {
  const { availableCents, heldForCardsCents, heldForWithdrawalsCents, contractsCents } = await readUserMoney(
    sql,
    accountId,
  )
  return { availableCents, heldCents: heldForCardsCents + heldForWithdrawalsCents, contractsCents }
}

/** Describes keys, those that work first, then the newest. */
async function describeKeys(
  { sql, backend }: AccountServices,
  keys: readonly KeyRecord[],
  now: EpochMs,
): Promise<readonly object[]> {
  const [first] = keys
  if (!first) return []
  const held = await heldKeysOf(sql, first.accountId)
  const sorted = keys.toSorted(
    (a, b) => Number(isLive(b, now)) - Number(isLive(a, now)) || b.createdAt - a.createdAt,
  )
  const listed = sorted.slice(0, MOST)
  const policies = await backend.issuer.keys.policies([...new Set(listed.flatMap(key => key.policyIds))])
  return listed.map(key => {
    const documents = policies.filter(({ id }) => key.policyIds.includes(id)).map(({ document }) => document)
    return {
      ...describeKey(key, now, held),
      lineageId: key.lineageId,
      limits: limitWords(documents.flatMap(limitsOf)) || null,
      allowsNothing: documents.some(isWithoutOperations),
    }
  })
}

/** Whether a policy allows no operation. */
const isWithoutOperations = (document: unknown): boolean =>
  (document as { readonly allowOperations?: readonly string[] } | null)?.allowOperations?.length === 0

/** Describes a card, with the last key of those that succeeded the one that made it. */
function describeCard(
  { id, last4, status, lockReason, limit, keyLineage, createdAt }: Card,
  keys: readonly KeyRecord[],
): object {
  const lineage = keys.filter(({ lineageId }) => lineageId === keyLineage?.lineageId)
  const maker = lineage.toSorted((a, b) => b.createdAt - a.createdAt)[0]
  return { id, last4, status, lockReason, limit, keyId: maker?.id ?? null, createdAt: isoOrNull(createdAt) }
}

/**
 * Says what ends with a key: its live sessions and those of keys below it, these keys, the open cards that they made or revealed, and the open pay-ins that they
 * requested, which stay payable. Sessions, cards and pay-ins are null for the key of a partner: they belong to the accounts of its users. Denial: `not_found`.
 */
export async function describeEnd(
  { sql, backend, clock }: AccountServices,
  query: URLSearchParams,
): Promise<Verdict<object, OperatorDenial>> {
  const keyId = query.get('id') ?? ''
  const key = await backend.issuer.keys.find(keyId)
  if (!key) return deny('not_found', 'No key has this id.')
  const { accountId, lineageId } = key
  const { keys } = await backend.issuer.keys.load(accountId)
  const now = clock.now()
  const below = keys.filter(each => each.ancestry.includes(lineageId) && isLive(each, now))
  const named = below.map(({ id, label }) => ({ id, label }))
  if (key.surface === 'partner')
    return allow({ keyId, below: named, sessions: null, cards: null, payins: null })
  const ended = new Set([keyId, ...below.map(({ id }) => id)])
  const sessions = await liveSessionsOf(backend.issuer, accountId, now)
  const cardIds = await openCardsOfKeys(sql, keys, { accountId, keyIds: [keyId] })
  const found: Card[] = []
  for (const id of [...cardIds].slice(0, MOST)) {
    const card = await cards.find(sql, accountId, id)
    if (card) found.push(card)
  }
  return allow({
    keyId,
    below: named,
    sessions: sessions.filter(session => ended.has(session.keyId)).length,
    cards: { count: cardIds.size, listed: found.map(card => describeCard(card, keys)) },
    payins: await openPayins(sql, accountId, ended),
  })
}

/** Counts the open pay-ins that some keys requested, among the newest 100, and adds up what they reserve. */
async function openPayins(
  sql: AccountServices['sql'],
  accountId: string,
  keyIds: ReadonlySet<string>,
): Promise<object> {
  const page = await payins.page(
    sql,
    accountId,
    { limit: MOST },
    { statuses: ['awaiting_payment', 'confirming'] },
  )
  const open = page.rows.filter(({ keyId }) => keyId !== null && keyIds.has(keyId))
  const cents = open.reduce((sum, { amountCents }) => sum + amountCents, 0)
  return { count: open.length, cents, more: page.next !== undefined }
}
