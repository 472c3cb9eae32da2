import { Fault, type Denial, type Verdict, type EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Guard, SpendHold, SpendStorage, PolicyDocument } from '@gatewright/scope-guard'
import type { SpendAccess } from '@gatewright/scope-guard/internal'
import type { Merchant } from '@gatewright/host'
import { SANDBOX_PROVIDER } from '../../../providers/sandbox.ts'
import { PAYMENT_RULE, policiesOnCard } from '../card-above-caller.ts'
import type { Card } from '../card.ts'
import type { CardKeyPolicies } from '../key-policies.ts'
import { exceedsLimit, isExpired, windowStart } from './limits.ts'
import type { DeclineReason } from './states.ts'
import { countedCents } from './store.ts'
import { merchantPayee } from '../../../product/payees.ts'

/** A payment by card that a merchant requests. */
export interface AuthorizationRequest {
  readonly id: string
  readonly amountCents: number
  readonly currency: string
  readonly merchant: Merchant
  /** The id of the attempt by which a card network makes it. Default null: a request of the API makes it. */
  readonly attempt?: string
  /** Why the issuer itself declines it. */
  readonly issuerReason?: DeclineReason | undefined
}

/** An amount to hold: that of a payment, or of an increment. */
export interface HeldAmount extends Omit<AuthorizationRequest, 'attempt'> {
  /** The amount that the authorization holds already, which counts for a limit or cap on one payment. Default 0. */
  readonly heldCents?: number
}

/** Why an authorization is declined, and by which member of a policy. */
export interface DeclineCause {
  readonly reason: DeclineReason
  readonly rule?: string
}

/** The services that decisions use. */
export interface DecisionServices {
  readonly guard: Guard
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
}

/**
 * Reads the policies that bind a card (`policiesOnCard`). Call it before the transaction. Undefined: they cannot be read, so
 * the payment must be declined.
 */
export async function cardPolicies(
  keyPolicies: Pick<CardKeyPolicies, 'read'>,
  card: Pick<Card, 'keyLineage' | 'sessionPolicies'>,
): Promise<readonly PolicyDocument[] | undefined> {
  const { keyLineage } = card
  const ofKey = keyLineage ? await orUndefined(() => keyPolicies.read(keyLineage)) : []
  return ofKey && policiesOnCard(card, ofKey)
}

/**
 * Decides about an amount, except whether the account has the money, and reserves the amount under the caps of the card. The
 * card must be locked. The order of the checks decides the reason that clients see.
 */
export async function decide(
  { guard, spendStorage }: DecisionServices,
  tx: SqlQueries,
  { card, isAccountLocked, policies, now }: CardOfAccount,
  amount: HeldAmount,
): Promise<SpendHold | DeclineCause> {
  const { amountCents, currency, heldCents = 0 } = amount
  if (currency !== 'USD') return { reason: 'currency_not_supported' }
  if (card.status !== 'active') return { reason: `card_${card.status}` }
  if (isExpired(card, now)) return { reason: 'card_expired' }
  if (isAccountLocked) return { reason: 'account_locked' }
  if (card.limit) {
    const since = windowStart(card.limit.frequency, now)
    const counted = since === undefined ? heldCents : await countedSince(tx, card, since)
    if (exceedsLimit(card.limit, counted, amountCents)) return { reason: 'card_limit_exceeded' }
  }
  return reserveUnder(guard, spendStorage(tx), { accountId: card.accountId, policies }, amount)
}

const countedSince = async (
  tx: SqlQueries,
  { accountId, id }: CardAtNow['card'],
  since: EpochMs,
): Promise<number> => (await countedCents(tx, accountId, [id], since)).get(id) ?? 0

/**
 * Decides whether policies allow a payment of an account, and reserves the amount under their caps. A cap on one operation
 * binds the whole authorization: `heldCents` and the amount. The counters of a day, a month and a total count the amount alone.
 */
export async function reserveUnder(
  guard: Guard,
  storage: SpendStorage,
  { accountId, policies }: Pick<CardAtNow, 'policies'> & { readonly accountId: string },
  { id, amountCents, currency, merchant, heldCents = 0 }: HeldAmount,
): Promise<SpendHold | DeclineCause> {
  const access = await orUndefined<Verdict<SpendAccess>>(
    async () => policies && guard.checkPolicies(accountId, policies, PAYMENT_RULE),
  )
  if (!access?.ok) return blockedBy(access)
  const whole = await guard.permits(access.value, { amountCents: heldCents + amountCents, currency })
  if (!whole.ok) return blockedBy(whole)
  const payee = merchantPayee(merchant)
  const hold = await guard.reserve(access.value, { amountCents, currency, payee, holdId: id }, storage)
  return hold.ok ? hold.value : blockedBy(hold)
}

/** A locked card, and the policies that bind it. */
export interface CardAtNow {
  readonly card: Card
  readonly policies: readonly PolicyDocument[] | undefined
  readonly now: EpochMs
}

/** What decides about an amount: the card, and whether its account is locked, both read in the transaction. */
export interface CardOfAccount extends CardAtNow {
  readonly isAccountLocked: boolean
}

function blockedBy(denial: Pick<Denial, 'details'> | undefined): DeclineCause {
  const rule = denial?.details?.['rule']
  return { reason: 'policy_blocked', ...(typeof rule === 'string' ? { rule } : {}) }
}

/** Runs a read. If it fails with a `Fault`, returns undefined. Other errors are rethrown. */
async function orUndefined<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** The merchants, by name in lower case, that the built-in issuer declines, with the reason. */
const DECLINED_MERCHANTS: ReadonlyMap<string, DeclineReason> = new Map([
  ['decline fraud', 'suspected_fraud'],
  ['decline merchant', 'merchant_blocked'],
])

/** Returns why the issuer of a card declines an authorization; undefined if it does not. */
export function issuerReason(
  { issuer }: Card,
  { issuerReason: given, merchant }: HeldAmount,
): DeclineReason | undefined {
  return (
    given ?? (issuer === SANDBOX_PROVIDER ? DECLINED_MERCHANTS.get(merchant.name.toLowerCase()) : undefined)
  )
}
