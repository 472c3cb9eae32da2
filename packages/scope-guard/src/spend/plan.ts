import type { Clock } from '@gatewright/kernel'
import { blocked, type SpendAccess } from '../access.ts'
import type { SpendDenial } from '../codes.ts'
import type { CounterItem } from '../policies/caps.ts'
import type { Block } from '../policies/predicates.ts'
import type { SpendStorage } from '../storage/port.ts'
import { checkAmount, malformedAmount, operationsOf, type Amount, type RateSource } from './amount.ts'

/** What spending needs. */
export interface SpendDependencies {
  readonly storage: SpendStorage | undefined
  readonly rates: RateSource
  readonly clock: Clock
  readonly timeoutMs: number
}

/** The counters that a call adds to. Everything that needs no store has been checked. */
interface SpendPlan {
  readonly cents: number
  readonly items: readonly CounterItem[]
}

/** Plans a spend, or returns the denial of a malformed amount or of a cap on a single call. */
export async function planSpend(
  { rule, chain }: SpendAccess,
  spend: Amount & { readonly holdId?: string },
  { storage, rates, clock }: SpendDependencies,
): Promise<SpendPlan | SpendDenial> {
  if (rule.spends === undefined) {
    throw new TypeError(
      `the rule of "${rule.operation}" must have spends: 'spend' or 'withdrawal' to reserve`,
    )
  }
  if (spend.holdId === '') throw new TypeError('holdId must not be empty')
  const malformed = malformedAmount(spend)
  if (malformed) return malformed
  const caps = chain.caps(operationsOf(rule, spend), rule.spends)
  if (caps.firstCounted && !storage) return blocked(caps.firstCounted)
  const cents = await checkAmount(caps, spend, rates)
  return typeof cents === 'number' ? { cents, items: caps.items(cents, clock.now()) } : cents
}

/**
 * Plans the count of a call that moves no money: only `maxCount` limits count it. A call that moves money is counted
 * when it reserves. Without a store, the first limit that needs a counter blocks.
 */
export function planCall(
  { rule, chain }: SpendAccess,
  { storage, clock }: SpendDependencies,
): Pick<SpendPlan, 'items'> | Block {
  if (rule.spends !== undefined) return { items: [] }
  const caps = chain.caps([rule.operation], undefined)
  if (!caps.firstCounted) return { items: [] }
  return storage ? { items: caps.items(0, clock.now()) } : caps.firstCounted
}

/** Describes a counter without enough left: what remains under its cap, and when its next window begins. */
export function overBlock({ item, rule, policyId, window }: CounterItem, used: number): Block {
  const { unit, cap, expiresAt } = item
  const resetsAt = expiresAt === null ? null : new Date(expiresAt).toISOString()
  return { rule, policyId, window, unit, remaining: Math.max(0, cap - used), resetsAt }
}
