import { allow, Fault, type Verdict } from '@gatewright/kernel'
import {
  approvalRequired,
  blocked,
  counterBlock,
  exceeded,
  withEvidence,
  type SpendAccess,
} from '../access.ts'
import type { GuardDenial, SpendDenial } from '../codes.ts'
import type { CounterItem } from '../policies/caps.ts'
import type { ApprovalStorage } from '../storage/approvals-port.ts'
import type { ReserveOutcome, SpendStorage } from '../storage/port.ts'
import { withinTime } from '../timeout.ts'
import type { Amount } from './amount.ts'
import type { ApprovedFor } from './approval-options.ts'
import { askedOf, denialUntilApproved, useApproval } from './approvals.ts'
import { lifted, readOver, thresholdsMet } from './over.ts'
import { planCall, planSpend, type SpendDependencies } from './plan.ts'
import { releaseSpend, type SpendHold } from './settle.ts'

/** The money that one call moves. Where the server has a price of its own, pass that and never an amount from the body. */
export interface Spend extends Amount {
  /**
   * The id of the hold, by default random. Give the operation's stable id (such as `effectId`): then a reservation of
   * unknown outcome can be repeated, and its hold can be found after a crash.
   */
  readonly holdId?: string
  /**
   * Counts the amount as spent at once, so that there is no hold to end: for a spend that takes effect in the transaction of `storage`. Cannot be
   * repeated, so it takes no `holdId`. Default false.
   */
  readonly isSpent?: boolean
  /** The request that may wait for an approval. Without it, an amount above `approveAboveCents` is denied. */
  readonly approval?: ApprovedFor
}

/** Implements `Guard.reserve`. */
export async function reserveSpend(
  access: SpendAccess,
  spend: Spend,
  dependencies: SpendDependencies,
  approvals?: ApprovalStorage,
): Promise<Verdict<SpendHold, SpendDenial>> {
  const { evidence } = access
  const plan = await planSpend(access, spend, dependencies)
  if ('ok' in plan) return withEvidence(plan, evidence)
  const { caps, cents, items } = plan
  const { accountId } = access.session
  const { amountCents, currency, isSpent = false, holdId = crypto.randomUUID() } = spend
  const counts = items.length > 0
  const reserve = async (given: readonly CounterItem[]): Promise<ReserveOutcome> =>
    counts ? reserveItems(accountId, isSpent ? null : holdId, given, dependencies) : NOTHING_COUNTED
  const single = caps.asking(cents)
  // Thresholds of windows are counted like caps first, so that two spends at once do not pass below one together.
  const first = single.length === 0 ? await reserve(items) : undefined
  const met = first
    ? await thresholdsMet(access, items, first, dependencies)
    : await readOver(access, items, dependencies)
  const asked = askedOf(access, spend, [...single, ...met.asking], dependencies.approvals)
  const waits = asked && (await denialUntilApproved(asked, dependencies, approvals))
  // Nobody is asked about what a cap denies anyway.
  if (waits) return withEvidence(met.denial ?? waits, evidence)
  const reserved = first && !asked ? first : await reserve(asked ? lifted(items, asked.policyIds) : items)
  if (reserved.outcome === 'conflict') {
    throw new Fault(
      'ERR_HOLD_CONFLICT',
      'holdId is in use for other amounts or caps: give each reservation its own id. If the amount, its rate or a policy changed after a lost run, release its hold (endRunHolds) before the next run reserves',
    )
  }
  if (reserved.outcome === 'over') {
    const full = items[reserved.index] as CounterItem
    // Another spend has reached the threshold of another policy, whose owner was not asked.
    const denial = full.asks
      ? approvalRequired(counterBlock(full, reserved).block)
      : await over(access, items, reserved, dependencies)
    return withEvidence(denial, evidence)
  }
  const requested = { amountCents, currency }
  const hold = { id: holdId, accountId, amountCents: cents, requested, held: counts && !isSpent }
  // After the caps, so that what they deny does not use up the approval. What counts already is undone: with the hold, or with the transaction.
  if (asked && !(await useApproval(asked, dependencies, approvals))) {
    await releaseSpend(hold, dependencies)
    return withEvidence(approvalRequired(asked.block), evidence)
  }
  await giveAlerts(access, items, reserved.used, dependencies)
  return allow(hold)
}

const NOTHING_COUNTED: ReserveOutcome = { outcome: 'held', used: [] }

/**
 * Counts a call of an operation that moves no money against the chain's `maxCount` limits. Returns the denial of the limit that
 * it exceeds.
 */
export async function countCall(
  access: SpendAccess,
  dependencies: SpendDependencies,
): Promise<(GuardDenial & SpendDenial) | undefined> {
  const plan = planCall(access, dependencies)
  if ('rule' in plan) return blocked(plan)
  const { items } = plan
  if (items.length === 0) return undefined
  const reserved = await reserveItems(access.session.accountId, null, items, dependencies)
  if (reserved.outcome === 'over') return over(access, items, reserved, dependencies)
  if (reserved.outcome === 'held') await giveAlerts(access, items, reserved.used, dependencies)
  return undefined
}

/** Denies what would exceed a cap. The process that reached its alert may have been killed before it gave it, so it is given here too. */
async function over(
  access: SpendAccess,
  items: readonly CounterItem[],
  reserved: Extract<ReserveOutcome, { readonly outcome: 'over' }>,
  dependencies: SpendDependencies,
): Promise<GuardDenial & SpendDenial> {
  const { index, used } = reserved
  await giveAlerts(access, [items[index] as CounterItem], [used], dependencies)
  return exceeded(items, index, reserved)
}

/** Gives the alerts of counters that are used so far. Awaits nothing if no cap has an alert. */
function giveAlerts(
  access: SpendAccess,
  items: readonly CounterItem[],
  used: readonly number[],
  dependencies: SpendDependencies,
): Promise<void> | undefined {
  const isAlerting = items.some(({ alert }) => alert !== undefined)
  return isAlerting ? dependencies.giveAlerts?.(access, items, used, dependencies) : undefined
}

/** Call it only if there are items: then there is a store. */
function reserveItems(
  accountId: string,
  holdId: string | null,
  items: readonly CounterItem[],
  { storage, timeoutMs, clock }: SpendDependencies,
): Promise<ReserveOutcome> {
  const store = storage as SpendStorage
  const amounts = items.map(({ item }) => item)
  return withinTime('spend store', timeoutMs, () => store.reserve(accountId, holdId, amounts, clock.now()))
}

/** Returns what `reserveSpend` would decide, or `countCall` if there is no spend. Changes nothing. */
export async function simulateSpend(
  access: SpendAccess,
  spend: Spend | undefined,
  dependencies: SpendDependencies,
): Promise<Verdict<undefined, SpendDenial>> {
  if (!spend) {
    const call = planCall(access, dependencies)
    if ('rule' in call) return blocked(call)
    return (await readOver(access, call.items, dependencies)).denial ?? allow(undefined)
  }
  const plan = await planSpend(access, spend, dependencies)
  if ('ok' in plan) return plan
  const { denial, asking } = await readOver(access, plan.items, dependencies)
  if (denial) return denial
  const [block] = [...plan.caps.asking(plan.cents), ...asking]
  return block ? approvalRequired(block) : allow(undefined)
}
