export { memoryRevocationFeed } from './memory-feed.ts'
import {
  type EpochMs,
  Fault,
  GRACE_MS,
  integerOption,
  knownOptions,
  type OptionNames,
  warnMemoryStorage,
} from '@gatewright/kernel'
import type { SpendItem, SpendStorage } from './port.ts'

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /** Most counters and holds kept at once. Default 100 000. */
  readonly capacity?: number
}

const OPTIONS: OptionNames<MemoryStorageOptions> = { capacity: true }

interface Counter {
  used: number
  readonly expiresAt: EpochMs | null
}
type Part = Pick<SpendItem, 'counter' | 'unit' | 'amount'>

const sameParts = (a: readonly Part[], b: readonly Part[]): boolean =>
  a.length === b.length &&
  a.every(
    (part, n) => part.counter === b[n]?.counter && part.unit === b[n].unit && part.amount === b[n].amount,
  )

/**
 * Spend counters of one process, gone when it ends: every cap starts anew then, and two processes count apart.
 * For tests and single-process tools. Full means refuse: it forgets no counter that may still be asked for.
 */
export function memoryStorage(options: MemoryStorageOptions = {}): SpendStorage {
  const { capacity = 100_000 } = knownOptions('memoryStorage', options, OPTIONS)
  integerOption('capacity', capacity, 1, Number.POSITIVE_INFINITY)
  warnMemoryStorage('SpendStorage')
  const counters = new Map<string, Counter>()
  const holds = new Map<string, readonly Part[]>()
  const key = (accountId: string, name: string): string => JSON.stringify([accountId, name])

  const drop = (cutoff: EpochMs, limit: number): number => {
    let dropped = 0
    for (const [name, { expiresAt }] of counters) {
      if (dropped >= limit) break
      if (expiresAt !== null && expiresAt <= cutoff && counters.delete(name)) dropped++
    }
    return dropped
  }

  const makeRoom = (needed: number, now: EpochMs): void => {
    if (counters.size + holds.size + needed <= capacity) return
    drop(now - GRACE_MS, Infinity)
    if (counters.size + holds.size + needed > capacity) {
      throw new Fault('ERR_STORE_FULL', `the spend memory holds ${capacity} counters and holds`)
    }
  }

  /** Ends a hold; `kept` says how much of a part stays counted. */
  const end = (accountId: string, holdId: string, kept: (part: Part) => number): boolean => {
    const parts = holds.get(key(accountId, holdId))
    if (!parts) return false
    for (const part of parts) {
      const counter = counters.get(key(accountId, part.counter))
      if (counter) counter.used -= part.amount - kept(part)
    }
    return holds.delete(key(accountId, holdId))
  }

  const usedOf = (accountId: string, counter: string): number =>
    counters.get(key(accountId, counter))?.used ?? 0

  return {
    async reserve(accountId, holdId, items, now) {
      const held = holdId === null ? undefined : holds.get(key(accountId, holdId))
      if (held && !sameParts(held, items)) return { outcome: 'conflict' }
      if (!held) {
        for (const [index, { counter, amount, cap }] of items.entries()) {
          const used = usedOf(accountId, counter)
          if (used + amount > cap) return { outcome: 'over', index, used }
        }
        makeRoom(items.length + 1, now)
        for (const { counter, amount, expiresAt } of items) {
          const entry = counters.get(key(accountId, counter))
          if (entry) entry.used += amount
          else counters.set(key(accountId, counter), { used: amount, expiresAt })
        }
        if (holdId !== null) holds.set(key(accountId, holdId), items)
      }
      return { outcome: 'held', used: items.map(({ counter }) => usedOf(accountId, counter)) }
    },
    async settle(accountId, holdId, actualCents) {
      const parts = holds.get(key(accountId, holdId))
      if (parts?.some(({ unit, amount }) => unit === 'cents' && actualCents > amount)) return 'exceeds'
      const kept = ({ unit, amount }: Part): number => (unit === 'cents' ? actualCents : amount)
      return end(accountId, holdId, kept) ? 'settled' : 'gone'
    },
    release: async (accountId, holdId) => end(accountId, holdId, () => 0),
    used: async (accountId, names) => names.map(name => usedOf(accountId, name)),
    collect: async (limit, now) => drop(now - GRACE_MS, limit),
  }
}
