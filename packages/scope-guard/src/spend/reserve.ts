import { allow, Fault, type Verdict } from '@gatewright/kernel'
import { approvalRequired, blocked, exceeded, withEvidence, type SpendAccess } from '../access.ts'
import type { GuardDenial, SpendDenial } from '../codes.ts'
import type { CounterItem } from '../policies/caps.ts'
import type { ApprovalStorage } from '../storage/approvals-port.ts'
import type { CounterUsage, ReserveOutcome, SpendStorage } from '../storage/port.ts'
import { withinTime } from '../timeout.ts'
import type { Amount } from './amount.ts'
import type { ApprovedFor } from './approval-options.ts'
import { askedOf, denialUntilApproved, useApproval } from './approvals.ts'
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
  const { cents, items } = plan
  const asked = askedOf(access, spend, plan, dependencies.approvals)
  const waits = asked && (await denialUntilApproved(asked, dependencies, approvals))
  // Nobody is asked about what a cap denies anyway.
  if (waits) return withEvidence((await overCap(access, items, dependencies)) ?? waits, evidence)
  const { accountId } = access.session
  const { amountCents, currency, isSpent = false, holdId = crypto.randomUUID() } = spend
  const counts = items.length > 0
  let used: readonly number[] = []
  if (counts) {
    const reserved = await reserveItems(accountId, isSpent ? null : holdId, items, dependencies)
    if (reserved.outcome === 'conflict') {
      throw new Fault(
        'ERR_HOLD_CONFLICT',
        'holdId is in use for other amounts or caps: give each reservation its own id. If the amount, its rate or a policy changed after a lost run, release its hold (endRunHolds) before the next run reserves',
      )
    }
    if (reserved.outcome === 'over')
      return withEvidence(await over(access, items, reserved, dependencies), evidence)
    used = reserved.used
  }
  const requested = { amountCents, currency }
  const hold = { id: holdId, accountId, amountCents: cents, requested, held: counts && !isSpent }
  // After the caps, so that what they deny does not use up the approval. What counts already is undone: with the hold, or with the transaction.
  if (asked && !(await useApproval(asked, dependencies, approvals))) {
    await releaseSpend(hold, dependencies)
    return withEvidence(approvalRequired(asked.block), evidence)
  }
  await giveAlerts(access, items, used, dependencies)
  return allow(hold)
}

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
    return (await overCap(access, call.items, dependencies)) ?? allow(undefined)
  }
  const plan = await planSpend(access, spend, dependencies)
  if ('ok' in plan) return plan
  const over = await overCap(access, plan.items, dependencies)
  if (over) return over
  const asked = askedOf(access, spend, plan, dependencies.approvals)
  return asked ? approvalRequired(asked.block) : allow(undefined)
}

/** Returns the denial of the first counter whose cap a call would exceed. Changes nothing. */
async function overCap(
  access: SpendAccess,
  items: readonly CounterItem[],
  dependencies: SpendDependencies,
): Promise<(GuardDenial & SpendDenial) | undefined> {
  if (items.length === 0) return undefined
  const counters = items.map(({ item: { counter, buckets } }) => (buckets ? { counter, buckets } : counter))
  const storage = dependencies.storage as SpendStorage
  const usage = await withinTime('spend store', dependencies.timeoutMs, () =>
    storage.usage(access.session.accountId, counters),
  )
  const index = items.findIndex(({ item }, n) => (usage[n] as CounterUsage).used + item.amount > item.cap)
  return index < 0 ? undefined : exceeded(items, index, usage[index] as CounterUsage)
}
