import type { Session } from '@gatewright/kernel'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { createGuard, type Guard, type GuardOptions, type Policy } from '@gatewright/scope-guard'
import type { Spend, GuardFacts } from '@gatewright/scope-guard/internal'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { session } from '../issuer.ts'
import { RATES, ruleOf, START, type Step } from './arbitrary.ts'

/** A guard with its own store and clock over some policies. */
export interface World {
  readonly clock: ManualClock
  readonly guard: Guard
  /** A session with the policies of these ids. */
  over(ids: readonly string[]): Session
}

export function world(
  policies: Readonly<Record<string, Policy>>,
  options: Partial<GuardOptions> = {},
): World {
  const clock = manualClock(START)
  const guard = createGuard({
    issuer: 'i',
    audience: 'a',
    keys: async () => undefined,
    limits: [],
    failedCredentials: 'off',
    policies: async ids => ids.map(id => policies[id]),
    spend: memorySpends(),
    rates: currency => RATES[currency],
    clock,
    ...options,
  })
  const over = (ids: readonly string[]): Session =>
    session(START, { policyIds: ids, expiresAt: START + 1e12 })
  return { clock, guard, over }
}

export const factsOf = ({ address }: Step): GuardFacts => ({
  authorization: undefined,
  ...(address ? { address } : {}),
})

export const spendOf = ({ amount, currency, countsAs, payee }: Step): Spend => ({
  amountCents: amount,
  currency,
  countsAs,
  ...(payee.length > 0 ? { payee } : {}),
})

/** What a hold of an amount settles; undefined unless it is settled. */
export const settledOf = ({ amount, ends }: Step): number | undefined =>
  typeof ends === 'number' ? Math.floor(amount * ends) : undefined

/** Checks, then reserves and ends the hold if the call spends. Returns true or the details of the denial. */
export async function decide(guard: Guard, holder: Session, step: Step): Promise<unknown> {
  const access = await guard.authorize(holder, factsOf(step), ruleOf(step))
  if (!access.ok || step.kind === undefined) return access.ok || access.details
  const hold = await guard.reserve(access.value, spendOf(step))
  if (!hold.ok) return hold.details
  if (step.ends === 'released') await guard.release(hold.value)
  else if (step.ends !== 'open') await guard.settle(hold.value, settledOf(step))
  return true
}
