import { allow, malformedReply, orFault, type Rule, type Verdict } from '@gatewright/kernel'
import { blocked, withEvidence, type SpendAccess } from '../access.ts'
import { deny, type SpendDenial } from '../codes.ts'
import type { OperationCaps } from '../policies/caps.ts'
import { isPayee } from '../policies/payees.ts'

/** An amount of money in a currency. */
export interface Amount {
  /** Minor units of the currency, a safe integer of at least 0. */
  readonly amountCents: number
  /** ISO 4217. Caps are in US cents. */
  readonly currency: string
  /**
   * Other operations that this movement of money completes, such as the operation that requested the payment which the
   * rule's operation makes. Limits on any of these operations apply too. A limit that names several of them counts the
   * amount once.
   */
  readonly countsAs?: readonly string[]
  /**
   * Who gets the money, for policies with `payees` or `denyPayees`: one name, or all names by which a policy may know the payee, such as
   * `['merchant:m_1', 'country:DE']` (1 to 16 names of 1 to 200 characters). Use a name that the server has found, in one spelling.
   */
  readonly payee?: string | readonly string[]
}

/** Returns US cents per minor unit of a currency; undefined if there is no rate, so that a money cap must block. */
export type RateSource = (currency: string) => number | undefined | Promise<number | undefined>

/** Lists the operations whose limits apply to an amount. */
export function operationsOf({ operation }: Rule, { countsAs = [] }: Amount): readonly string[] {
  return [operation, ...countsAs]
}

/** Denies a malformed amount, currency or payee and names the field. All may come from a request's body. */
export function malformedAmount({ amountCents, currency, payee }: Amount): SpendDenial | undefined {
  if (!Number.isSafeInteger(amountCents) || amountCents < 0) {
    return invalid('amountCents', 'must be a safe integer of at least 0')
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return invalid('currency', 'must be three capital letters')
  }
  if (payee !== undefined && !isPayee(payee)) {
    return invalid('payee', 'must be a name of 1 to 200 characters, or a list of 1 to 16 names')
  }
  return undefined
}

const invalid = (field: string, expected: string): SpendDenial => ({
  ...deny('invalid_request', `${field} ${expected}`, { field }),
  headers: [],
})

/**
 * Checks an amount against the caps on a single call and returns its US cents, rounded up, so that no cap lets a
 * fraction of a cent more pass. Without a money cap the result is 0, and no rate is read.
 */
export async function checkAmount(
  caps: OperationCaps,
  amount: Amount,
  rates: RateSource,
): Promise<number | SpendDenial> {
  if (!caps.money) return 0
  const cents = await centsOf(amount, rates)
  if (cents === undefined) return blocked(caps.money)
  if (!Number.isSafeInteger(cents)) return invalid('amountCents', 'is too large to be converted to US cents')
  const over = caps.overOneCall(cents)
  return over ? blocked(over) : cents
}

/** Converts a well-formed amount to US cents, rounded up, which may be no safe integer. Undefined: there is no rate. */
export async function centsOf(
  { amountCents, currency }: Amount,
  rates: RateSource,
): Promise<number | undefined> {
  if (currency === 'USD') return amountCents
  const rate = await orFault('exchange rates', async () => rates(currency))
  if (rate === undefined) return undefined
  if (!(rate > 0 && rate < Infinity)) throw malformedReply('exchange rates', 'a positive number')
  return Math.ceil(amountCents * rate)
}

/** Implements `Guard.permits`. */
export async function permitsAmount(
  { rule, chain, evidence }: SpendAccess,
  amount: Amount,
  rates: RateSource,
): Promise<Verdict<undefined, SpendDenial>> {
  if (rule.spends === undefined) return allow(undefined)
  const malformed = malformedAmount(amount)
  if (malformed) return withEvidence(malformed, evidence)
  const block = amount.payee === undefined ? undefined : chain.payees.block(amount.payee)
  if (block) return withEvidence(blocked(block), evidence)
  const checked = await checkAmount(chain.caps(operationsOf(rule, amount), rule.spends), amount, rates)
  return typeof checked === 'number' ? allow(undefined) : withEvidence(checked, evidence)
}
