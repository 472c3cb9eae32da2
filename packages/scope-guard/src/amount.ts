import { allow, malformedReply, orFault, type Rule, type Verdict } from '@gatewright/kernel'
import { blocked, type Access } from './access.ts'
import { deny, type SpendDenial } from './codes.ts'
import type { CapPlan } from './policy/caps.ts'

/** An amount of money in a currency. */
export interface Amount {
  /** Integer minor units of the currency, a safe integer of at least 0. */
  readonly amountCents: number
  /** ISO 4217. Caps are in US cents. */
  readonly currency: string
  /**
   * Other operations that moving this amount completes, such as the one that asked for a payment which the rule's operation
   * makes: limits that name any of them bind too, and one that names several counts the amount once.
   */
  readonly countsAs?: readonly string[]
}

/** What an amount counts as under the limits of a policy. */
export function operationsOf({ operation }: Rule, { countsAs = [] }: Amount): readonly string[] {
  return [operation, ...countsAs]
}

/** US cents per minor unit of a currency, or undefined when there is no rate and a money cap must block. */
export type RateSource = (currency: string) => number | undefined | Promise<number | undefined>

/** An amount and its currency may come from a request's body: wrong ones are refused, and the field is named. */
export function wrongSpend({ amountCents, currency }: Amount): SpendDenial | undefined {
  if (!Number.isSafeInteger(amountCents) || amountCents < 0) {
    return wrong('amountCents', 'must be a safe integer of at least 0')
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return wrong('currency', 'must be three capital letters')
  }
  return undefined
}

const wrong = (field: string, expected: string): SpendDenial => ({
  ...deny('invalid_request', `${field} ${expected}`, { field }),
  headers: [],
})

/**
 * Why an amount may not be moved in one call, whatever the counters say; else its US cents, rounded up, so that a cap
 * never lets a fraction more pass. Without a money cap they are 0, and no rate is asked for.
 */
export async function judgeAmount(
  plan: CapPlan,
  { amountCents, currency }: Amount,
  rates: RateSource,
): Promise<number | SpendDenial> {
  if (!plan.money) return 0
  const cents = currency === 'USD' ? amountCents : await converted(amountCents, currency, rates)
  if (cents === undefined) return blocked(plan.money)
  if (!Number.isSafeInteger(cents)) return wrong('amountCents', 'is too large to be converted to US cents')
  const over = plan.overOneCall(cents)
  return over ? blocked(over) : cents
}

async function converted(
  amountCents: number,
  currency: string,
  rates: RateSource,
): Promise<number | undefined> {
  const rate = await orFault('exchange rates', async () => rates(currency))
  if (rate === undefined) return undefined
  if (!(rate > 0 && rate < Infinity)) throw malformedReply('exchange rates', 'a positive number')
  return Math.ceil(amountCents * rate)
}

/** Whether an amount passes what does not depend on counters. See `Guard.permits`. */
export async function permitsAmount(
  { rule, chain, evidence }: Access,
  amount: Amount,
  rates: RateSource,
): Promise<Verdict<undefined, SpendDenial>> {
  if (rule.spends === undefined) return allow(undefined)
  const judged =
    wrongSpend(amount) ??
    (await judgeAmount(chain.caps(operationsOf(rule, amount), rule.spends), amount, rates))
  return typeof judged === 'number' ? allow(undefined) : { ...judged, evidence }
}
