import {
  type EpochMs,
  Fault,
  GRACE_MS,
  integerOption,
  knownOptions,
  type OptionNames,
  warnMemoryStorage,
} from '@gatewright/kernel'
import type { ChallengeStorage } from './port.ts'

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /**
   * Most nonces held at once, live or within their grace, and as many challenges. Default 100 000, about 12 MB each.
   * Full: `ERR_STORE_FULL`, nothing is forgotten.
   */
  readonly capacity?: number
}

const OPTIONS: OptionNames<MemoryStorageOptions> = { capacity: true }

/** Keys with their ends, at most `capacity` of them. */
interface BoundedKeys {
  readonly capacity: number
  readonly ends: Map<string, EpochMs>
  /** No key ends before this instant, so a full memory is not searched again before it. */
  earliest: EpochMs
}

/** Deletes up to `limit` keys that ended by `cutoff`. */
function drop(keys: BoundedKeys, cutoff: EpochMs, limit: number): number {
  let dropped = 0
  let next = Infinity
  for (const [key, expiresAt] of keys.ends) {
    if (expiresAt <= cutoff && dropped < limit) {
      keys.ends.delete(key)
      dropped++
    } else next = Math.min(next, expiresAt)
  }
  keys.earliest = next
  return dropped
}

function add(keys: BoundedKeys, key: string, expiresAt: EpochMs, now: EpochMs): void {
  const { ends, capacity, earliest } = keys
  if (!ends.has(key) && ends.size >= capacity && (now < earliest || drop(keys, now, Infinity) === 0)) {
    throw new Fault('ERR_STORE_FULL', `the memory holds ${capacity} live keys`)
  }
  ends.set(key, expiresAt)
  keys.earliest = Math.min(keys.earliest, expiresAt)
}

/**
 * Replay memory of one process, gone when it ends. For tests and single-process tools: after a restart a
 * statement that is still in its window could be used again.
 */
export function memoryStorage(options: MemoryStorageOptions = {}): ChallengeStorage {
  const { capacity = 100_000 } = knownOptions('memoryStorage', options, OPTIONS)
  integerOption('capacity', capacity, 1, Number.POSITIVE_INFINITY)
  warnMemoryStorage('NonceStorage')
  const nonces: BoundedKeys = { capacity, ends: new Map(), earliest: -Infinity }
  const challenges: BoundedKeys = { capacity, ends: new Map(), earliest: -Infinity }
  return {
    async claim(key, expiresAt, now) {
      const until = nonces.ends.get(key)
      if (until !== undefined && now < until) return false
      add(nonces, key, expiresAt, now)
      return true
    },
    async issue(key, expiresAt, now) {
      if (challenges.ends.has(key)) return false
      add(challenges, key, expiresAt, now)
      return true
    },
    async consume(key, now) {
      const until = challenges.ends.get(key)
      challenges.ends.delete(key)
      return until !== undefined && now < until
    },
    async collect(limit, now) {
      const dropped = drop(nonces, now - GRACE_MS, limit)
      return dropped + drop(challenges, now - GRACE_MS, limit - dropped)
    },
  }
}
