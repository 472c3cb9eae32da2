import { Fault, type EpochMs } from '@gatewright/kernel'
import { checkOptions, warnMemoryStorage } from '@gatewright/kernel/internal'
import type { AliasUsage, AliasUsageKey, AliasUsageStorage } from './port.ts'

/** Options of `memoryAliasUsage`. */
export interface MemoryAliasUsageOptions {
  /** Maximum number of rows, at least 1, default 100 000, about 25 MB. */
  readonly capacity?: number
}

// A line break sorts before every printable character, so these keys sort like pairs of alias and caller.
const keyOf = ({ alias, caller }: AliasUsageKey): string => `${alias}\n${caller}`

/** Keeps the usage in this process; it is gone when the process ends. For tests and single-process tools. */
export function memoryAliasUsage(options: MemoryAliasUsageOptions = {}): AliasUsageStorage {
  const { capacity } = checkOptions('memoryAliasUsage', options, {
    capacity: { min: 1, max: Infinity, default: 100_000 },
  })
  warnMemoryStorage('AliasUsageStorage')
  const usage = new Map<string, AliasUsage>()
  const writers = new Map<string, { sequence: number; seenAt: EpochMs }>()

  return {
    async add({ writer, sequence, rows }, now) {
      if (sequence <= (writers.get(writer)?.sequence ?? 0)) return false
      const fresh = rows.filter(row => !usage.has(keyOf(row))).length
      if (usage.size + fresh > capacity) {
        throw new Fault(
          'ERR_STORE_FULL',
          `the alias usage memory is full: it has ${usage.size} of ${capacity} rows`,
        )
      }
      writers.set(writer, { sequence, seenAt: now })
      for (const row of rows) {
        const known = usage.get(keyOf(row)) ?? { ...row, count: 0 }
        usage.set(keyOf(row), {
          ...known,
          count: known.count + row.count,
          firstSeen: Math.min(known.firstSeen, row.firstSeen),
          lastSeen: Math.max(known.lastSeen, row.lastSeen),
        })
      }
      return true
    },
    async page(after, limit) {
      const start = after ? keyOf(after) : ''
      const keys = [...usage.keys()].filter(key => key > start).sort()
      return keys.slice(0, limit).map(key => usage.get(key) as AliasUsage)
    },
    async collect(limit, before) {
      for (const [writer, { seenAt }] of writers) if (seenAt < before) writers.delete(writer)
      const old = [...usage].filter(([, { lastSeen }]) => lastSeen < before).slice(0, limit)
      for (const [key] of old) usage.delete(key)
      return old.length
    },
  }
}
