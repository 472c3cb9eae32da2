import { Fault, GRACE_MS, type EpochMs } from '@gatewright/kernel'
import { checkOptions, warnMemoryStorage } from '@gatewright/kernel/internal'
import { bucketKey, counterParts, rollingUsage } from './counters.ts'
import type { MemoryOptions } from './options.ts'
import type { CounterUsage, SpendItem, SpendStorage } from './port.ts'

export { memoryApprovals } from './approvals-memory.ts'
export { memoryRevocationFeed } from './memory-feed.ts'
export type { MemoryOptions } from './options.ts'

interface Counter {
  used: number
  held: number
  readonly expiresAt: EpochMs | null
}
/** An item of a hold, with the key of the counter or bucket that it was added to. */
type HeldItem = Pick<SpendItem, 'counter' | 'series' | 'unit' | 'amount'> & { readonly key: string }

const sameCounter = (a: HeldItem, b: SpendItem): boolean =>
  a.counter === b.counter || (a.series !== undefined && a.series === b.series)
const sameItems = (a: readonly HeldItem[], b: readonly SpendItem[]): boolean =>
  a.length === b.length &&
  b.every((item, n) => {
    const held = a[n] as HeldItem
    return sameCounter(held, item) && held.unit === item.unit && held.amount === item.amount
  })

/**
 * Stores spend counters in the memory of one process. They are lost when the process ends, so every cap starts at zero again,
 * and two processes do not share them. For tests and single-process tools. When it is full, `reserve` throws `ERR_STORE_FULL`;
 * no counter that may still be read is deleted.
 */
export function memorySpends(options: MemoryOptions = {}): SpendStorage {
  const { capacity } = checkOptions('memorySpends', options, {
    capacity: { min: 1, max: Infinity, default: 100_000 },
  })
  warnMemoryStorage('SpendStorage')
  const counters = new Map<string, Counter>()
  const holds = new Map<string, readonly HeldItem[]>()
  const key = (accountId: string, name: string): string => JSON.stringify([accountId, name])
  const keyOf = (accountId: string, { counter, buckets }: SpendItem): string => {
    const base = key(accountId, counter)
    return buckets === undefined ? base : bucketKey(base, buckets.current)
  }

  const drop = (cutoff: EpochMs, limit: number): number => {
    let dropped = 0
    for (const [name, { expiresAt }] of counters) {
      if (dropped >= limit) break
      if (expiresAt !== null && expiresAt <= cutoff && counters.delete(name)) dropped++
    }
    return dropped
  }

  const ensureCapacity = (needed: number, now: EpochMs): void => {
    if (counters.size + holds.size + needed <= capacity) return
    drop(now - GRACE_MS, Infinity)
    if (counters.size + holds.size + needed > capacity) {
      throw new Fault('ERR_STORE_FULL', `the spend memory holds ${capacity} counters and holds`)
    }
  }

  /** Ends a hold. `keep` returns how much of an item stays counted. */
  const endHold = (accountId: string, holdId: string, keep: (item: HeldItem) => number): boolean => {
    const items = holds.get(key(accountId, holdId))
    if (!items) return false
    for (const item of items) {
      const counter = counters.get(item.key)
      if (!counter) continue
      counter.used -= item.amount - keep(item)
      counter.held -= item.amount
    }
    return holds.delete(key(accountId, holdId))
  }

  const usageOf = (accountId: string, counter: string, buckets: SpendItem['buckets']): CounterUsage => {
    const base = key(accountId, counter)
    if (buckets === undefined) {
      const { used, held } = counters.get(base) ?? { used: 0, held: 0 }
      return { used, held }
    }
    const found = []
    for (let bucket = buckets.oldest; bucket <= buckets.newest; bucket++) {
      const entry = counters.get(bucketKey(base, bucket))
      if (entry) found.push({ bucket, used: entry.used, held: entry.held })
    }
    return rollingUsage(found)
  }

  return {
    async reserve(accountId, holdId, items, now) {
      const held = holdId === null ? undefined : holds.get(key(accountId, holdId))
      if (held && !sameItems(held, items)) return { outcome: 'conflict' }
      const before = items.map(({ counter, buckets }) => usageOf(accountId, counter, buckets))
      if (held) return { outcome: 'held', used: before.map(({ used }) => used) }
      const after = items.map(({ amount }, n) => (before[n] as CounterUsage).used + amount)
      const index = items.findIndex(({ cap }, n) => (after[n] as number) > cap)
      if (index >= 0) {
        const { used, buckets } = before[index] as CounterUsage
        return { outcome: 'over', index, used, ...(buckets === undefined ? {} : { buckets }) }
      }
      ensureCapacity(items.length + 1, now)
      const added = items.map(item => ({ ...item, key: keyOf(accountId, item) }))
      for (const { key: counterKey, amount, expiresAt } of added) {
        const entry = counters.get(counterKey)
        const heldAmount = holdId === null ? 0 : amount
        if (entry) {
          entry.used += amount
          entry.held += heldAmount
        } else counters.set(counterKey, { used: amount, held: heldAmount, expiresAt })
      }
      if (holdId !== null) holds.set(key(accountId, holdId), added)
      return { outcome: 'held', used: after }
    },
    async settle(accountId, holdId, actualCents) {
      const items = holds.get(key(accountId, holdId))
      if (items?.some(({ unit, amount }) => unit === 'cents' && (actualCents ?? 0) > amount)) return 'exceeds'
      const keep = ({ unit, amount }: HeldItem): number =>
        unit === 'cents' ? (actualCents ?? amount) : amount
      return endHold(accountId, holdId, keep) ? 'settled' : 'gone'
    },
    release: async (accountId, holdId) => endHold(accountId, holdId, () => 0),
    usage: async (accountId, names) =>
      names.map(counterParts).map(({ counter, buckets }) => usageOf(accountId, counter, buckets)),
    collect: async (limit, now) => drop(now - GRACE_MS, limit),
  }
}
