import {
  type EpochMs,
  Fault,
  integerOption,
  knownOptions,
  type OptionNames,
  warnMemoryStorage,
} from '@gatewright/kernel'
import type { AliasUsage, AliasUsageKey, AliasUsageStorage } from './port.ts'

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /** Most rows held at once. Default 100 000, about 25 MB. */
  readonly capacity?: number
}

const OPTIONS: OptionNames<MemoryStorageOptions> = { capacity: true }

// A line break sorts below every visible character, so texts sort as their pairs do.
const keyOf = ({ alias, principal }: AliasUsageKey): string => `${alias}\n${principal}`

/** Usage of one process, gone when it ends. For tests and single-process tools. */
export function memoryStorage(options: MemoryStorageOptions = {}): AliasUsageStorage {
  const { capacity = 100_000 } = knownOptions('memoryStorage', options, OPTIONS)
  integerOption('capacity', capacity, 1, Number.POSITIVE_INFINITY)
  warnMemoryStorage('AliasUsageStorage')
  const held = new Map<string, AliasUsage>()
  const writers = new Map<string, { sequence: number; seenAt: EpochMs }>()

  return {
    async add({ writer, sequence, rows }, now) {
      if (sequence <= (writers.get(writer)?.sequence ?? 0)) return false
      const fresh = rows.filter(row => !held.has(keyOf(row))).length
      if (held.size + fresh > capacity) {
        throw new Fault('ERR_STORE_FULL', `the alias usage memory holds ${held.size} of ${capacity} rows`)
      }
      writers.set(writer, { sequence, seenAt: now })
      for (const row of rows) {
        const known = held.get(keyOf(row)) ?? { ...row, count: 0 }
        held.set(keyOf(row), {
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
      const keys = [...held.keys()].filter(key => key > start).sort()
      return keys.slice(0, limit).map(key => held.get(key) as AliasUsage)
    },
    async collect(before, limit) {
      for (const [writer, { seenAt }] of writers) if (seenAt < before) writers.delete(writer)
      const old = [...held].filter(([, { lastSeen }]) => lastSeen < before).slice(0, limit)
      for (const [key] of old) held.delete(key)
      return old.length
    },
  }
}
