import { counterBlock, exceeded, type SpendAccess } from '../access.ts'
import type { GuardDenial, SpendDenial } from '../codes.ts'
import type { CounterItem } from '../policies/caps.ts'
import type { Block } from '../policies/predicates.ts'
import type { CounterUsage, ReserveOutcome, SpendStorage } from '../storage/port.ts'
import { withinTime } from '../timeout.ts'
import type { SpendDependencies } from './plan.ts'

/** What a call would exceed. */
export interface Over {
  /** The denial of the first cap. */
  readonly denial: (GuardDenial & SpendDenial) | undefined
  /** The thresholds of windows, which ask for an approval. */
  readonly asking: readonly Block[]
}

const NOTHING: Over = { denial: undefined, asking: [] }

/** Reads what a call would exceed by the usage of its counters. Changes nothing. */
export async function readOver(
  access: SpendAccess,
  items: readonly CounterItem[],
  { storage, timeoutMs }: Pick<SpendDependencies, 'storage' | 'timeoutMs'>,
): Promise<Over> {
  if (items.length === 0) return NOTHING
  const counters = items.map(({ item: { counter, buckets } }) => (buckets ? { counter, buckets } : counter))
  const usage = await withinTime('spend store', timeoutMs, () =>
    (storage as SpendStorage).usage(access.session.accountId, counters),
  )
  const over = items.map(({ item }, n) => (usage[n] as CounterUsage).used + item.amount > item.cap)
  const denied = items.findIndex(({ asks }, n) => !asks && over[n] === true)
  return {
    denial: denied < 0 ? undefined : exceeded(items, denied, usage[denied] as CounterUsage),
    asking: items.flatMap((counter, n) =>
      counter.asks && over[n] === true ? [counterBlock(counter, usage[n] as CounterUsage).block] : [],
    ),
  }
}

/**
 * Returns which thresholds a reservation that counted them like caps has met. A hold that is found again can be above one, because it was
 * approved, or because others were since.
 */
export async function thresholdsMet(
  access: SpendAccess,
  items: readonly CounterItem[],
  reserved: ReserveOutcome,
  dependencies: SpendDependencies,
): Promise<Over> {
  if (reserved.outcome === 'held') {
    const asking = items.flatMap((counter, n) => {
      const { item, asks } = counter
      const used = reserved.used[n] as number
      return asks && used > item.cap ? [counterBlock(counter, { used: used - item.amount }).block] : []
    })
    return asking.length === 0 ? NOTHING : { denial: undefined, asking }
  }
  if (reserved.outcome !== 'over') return NOTHING
  const met = items[reserved.index] as CounterItem
  if (!met.asks) return NOTHING
  const over = await readOver(access, items, dependencies)
  // Between the two, another spend may have given back what was missing.
  return over.asking.length > 0 ? over : { ...over, asking: [counterBlock(met, reserved).block] }
}

/** Lifts the thresholds of policies under which a spend was approved: it counts, whatever the window has. */
export function lifted(items: readonly CounterItem[], policyIds: readonly string[]): readonly CounterItem[] {
  return items.map(counter =>
    counter.asks && policyIds.includes(counter.policyId)
      ? { ...counter, item: { ...counter.item, cap: Number.MAX_SAFE_INTEGER } }
      : counter,
  )
}
