import type { Clock } from '@gatewright/kernel'
import { blocked, type SpendAccess } from '../access.ts'
import type { SpendDenial } from '../codes.ts'
import type { CounterItem, OperationCaps } from '../policies/caps.ts'
import type { Block } from '../policies/predicates.ts'
import type { SpendStorage } from '../storage/port.ts'
import { checkAmount, malformedAmount, operationsOf, type Amount, type RateSource } from './amount.ts'
import type { GiveAlerts } from './alerts.ts'
import type { CheckedApprovals } from './approval-options.ts'

/** The services that count spending. */
export interface SpendDependencies {
  readonly storage: SpendStorage | undefined
  readonly rates: RateSource
  readonly clock: Clock
  readonly timeoutMs: number
  /** Absent: what a threshold asks about is denied. */
  readonly approvals: CheckedApprovals | undefined
  /** Absent: nobody receives alerts. */
  readonly giveAlerts: GiveAlerts | undefined
}

/** The counters that a call adds to. All checks that need no store have passed. */
export interface SpendPlan {
  readonly caps: OperationCaps
  readonly cents: number
  readonly items: readonly CounterItem[]
}

/** Returns the counters that a spend adds to, or the denial of a malformed amount, of a payee or of a cap on a single call. */
export async function planSpend(
  { rule, chain }: SpendAccess,
  spend: Amount & { readonly holdId?: string; readonly isSpent?: boolean },
  { storage, rates, clock }: SpendDependencies,
): Promise<SpendPlan | SpendDenial> {
  if (rule.spends === undefined) {
    throw new TypeError(
      `the rule of "${rule.operation}" must have spends: 'spend' or 'withdrawal' to reserve`,
    )
  }
  if (spend.holdId === '') throw new TypeError('holdId must not be empty')
  if (spend.isSpent && spend.holdId !== undefined)
    throw new TypeError('a spend with isSpent makes no hold: leave holdId out')
  const malformed = malformedAmount(spend)
  if (malformed) return malformed
  const block = chain.payees.block(spend.payee)
  if (block) return blocked(block)
  const caps = chain.caps(operationsOf(rule, spend), rule.spends)
  if (caps.firstWithCounter && !storage) return blocked(caps.firstWithCounter)
  const cents = await checkAmount(caps, spend, rates)
  return typeof cents === 'number' ? { caps, cents, items: caps.items(cents, clock.now()) } : cents
}

/**
 * Returns the counters that a call without money adds to, those of `maxCount` limits; none for a call that moves money, which
 * `reserve` counts. Without a store, the first limit that needs a counter blocks.
 */
export function planCall(
  { rule, chain }: SpendAccess,
  { storage, clock }: SpendDependencies,
): Pick<SpendPlan, 'items'> | Block {
  if (rule.spends !== undefined) return { items: [] }
  const caps = chain.caps([rule.operation], undefined)
  if (!caps.firstWithCounter) return { items: [] }
  return storage ? { items: caps.items(0, clock.now()) } : caps.firstWithCounter
}
