import { Fault, GRACE_MS, type EpochMs } from '@gatewright/kernel'
import { checkOptions, warnMemoryStorage } from '@gatewright/kernel/internal'
import type { ChallengeStorage } from './port.ts'

/** Options of `memoryNonces`. */
export interface MemoryNoncesOptions {
  /**
   * Maximum number of stored nonces, live or within `GRACE_MS` after their expiry, and the same number of challenges. At least 1,
   * default 100 000, about 12 MB each. When it is reached, the fault is `ERR_STORE_FULL`; nothing is evicted.
   */
  readonly capacity?: number
}

/** At most `capacity` keys with their expiry. */
interface BoundedKeys {
  readonly capacity: number
  readonly expiries: Map<string, EpochMs>
  /** The earliest expiry of all keys: a full store is not searched for expired keys before. */
  earliest: EpochMs
}

/** Deletes up to `limit` keys that expired at or before `cutoff`. */
function deleteExpired(keys: BoundedKeys, cutoff: EpochMs, limit: number): number {
  let deleted = 0
  let next = Infinity
  for (const [key, expiresAt] of keys.expiries) {
    if (expiresAt <= cutoff && deleted < limit) {
      keys.expiries.delete(key)
      deleted++
    } else next = Math.min(next, expiresAt)
  }
  keys.earliest = next
  return deleted
}

function add(keys: BoundedKeys, key: string, expiresAt: EpochMs, now: EpochMs): void {
  const { expiries, capacity, earliest } = keys
  if (
    !expiries.has(key) &&
    expiries.size >= capacity &&
    (now < earliest || deleteExpired(keys, now, Infinity) === 0)
  ) {
    throw new Fault('ERR_STORE_FULL', `memoryNonces already holds its capacity of ${capacity} live keys`)
  }
  expiries.set(key, expiresAt)
  keys.earliest = Math.min(keys.earliest, expiresAt)
}

/**
 * Replay protection in the memory of one process, for tests and single-process tools. It is lost at exit: after a
 * restart a statement that has not expired could be used again.
 */
export function memoryNonces(options: MemoryNoncesOptions = {}): ChallengeStorage {
  const { capacity } = checkOptions('memoryNonces', options, {
    capacity: { min: 1, max: Infinity, default: 100_000 },
  })
  warnMemoryStorage('NonceStorage')
  const nonces: BoundedKeys = { capacity, expiries: new Map(), earliest: -Infinity }
  const challenges: BoundedKeys = { capacity, expiries: new Map(), earliest: -Infinity }
  return {
    async claim(key, expiresAt, now) {
      const until = nonces.expiries.get(key)
      if (until !== undefined && now < until) return false
      add(nonces, key, expiresAt, now)
      return true
    },
    async issue(key, expiresAt, now) {
      if (challenges.expiries.has(key)) return false
      add(challenges, key, expiresAt, now)
      return true
    },
    async consume(key, now) {
      const until = challenges.expiries.get(key)
      challenges.expiries.delete(key)
      return until !== undefined && now < until
    },
    async collect(limit, now) {
      const deleted = deleteExpired(nonces, now - GRACE_MS, limit)
      return deleted + deleteExpired(challenges, now - GRACE_MS, limit - deleted)
    },
  }
}
