import { Fault, GRACE_MS, type EpochMs } from '@gatewright/kernel'
import { checkOptions, warnMemoryStorage } from '@gatewright/kernel/internal'
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
type HeldItem = Pick<SpendItem, 'counter' | 'unit' | 'amount'>

const sameItems = (a: readonly HeldItem[], b: readonly HeldItem[]): boolean =>
  a.length === b.length &&
  a.every(
    (item, n) => item.counter === b[n]?.counter && item.unit === b[n].unit && item.amount === b[n].amount,
  )

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
      const counter = counters.get(key(accountId, item.counter))
      if (!counter) continue
      counter.used -= item.amount - keep(item)
      counter.held -= item.amount
    }
    return holds.delete(key(accountId, holdId))
  }

  const usageOf = (accountId: string, counter: string): CounterUsage => {
    const { used, held } = counters.get(key(accountId, counter)) ?? { used: 0, held: 0 }
    return { used, held }
  }

  return {
    async reserve(accountId, holdId, items, now) {
      const held = holdId === null ? undefined : holds.get(key(accountId, holdId))
      if (held && !sameItems(held, items)) return { outcome: 'conflict' }
      if (!held) {
        for (const [index, { counter, amount, cap }] of items.entries()) {
          const { used } = usageOf(accountId, counter)
          if (used + amount > cap) return { outcome: 'over', index, used }
        }
        ensureCapacity(items.length + 1, now)
        for (const { counter, amount, expiresAt } of items) {
          const entry = counters.get(key(accountId, counter))
          const held = holdId === null ? 0 : amount
          if (entry) {
            entry.used += amount
            entry.held += held
          } else counters.set(key(accountId, counter), { used: amount, held, expiresAt })
        }
        if (holdId !== null) holds.set(key(accountId, holdId), items)
      }
      return { outcome: 'held', used: items.map(({ counter }) => usageOf(accountId, counter).used) }
    },
    async settle(accountId, holdId, actualCents) {
      const items = holds.get(key(accountId, holdId))
      if (items?.some(({ unit, amount }) => unit === 'cents' && (actualCents ?? 0) > amount)) return 'exceeds'
      const keep = ({ unit, amount }: HeldItem): number =>
        unit === 'cents' ? (actualCents ?? amount) : amount
      return endHold(accountId, holdId, keep) ? 'settled' : 'gone'
    },
    release: async (accountId, holdId) => endHold(accountId, holdId, () => 0),
    usage: async (accountId, names) => names.map(name => usageOf(accountId, name)),
    collect: async (limit, now) => drop(now - GRACE_MS, limit),
  }
}
