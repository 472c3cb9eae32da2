import { Fault, GRACE_MS, warnMemoryStorage, type EpochMs } from '@gatewright/kernel'
import type { ChallengeStorage } from './port.ts'

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /**
   * Most nonces held at once, live or within their grace, and as many challenges. Default 100 000, about 12 MB each.
   * Full: `ERR_STORE_FULL`, nothing is forgotten.
   */
  readonly capacity?: number
}

/** Keys with their ends, at most `capacity` of them. */
function boundedKeys(capacity: number) {
  const ends = new Map<string, EpochMs>()
  /** No key ends before this instant, so a full memory is not searched again before it. */
  let earliest: EpochMs = -Infinity

  /** Deletes up to `limit` keys that ended by `cutoff`. */
  const drop = (cutoff: EpochMs, limit: number): number => {
    let dropped = 0
    let next = Infinity
    for (const [key, expiresAt] of ends) {
      if (expiresAt <= cutoff && dropped < limit) {
        ends.delete(key)
        dropped++
      } else next = Math.min(next, expiresAt)
    }
    earliest = next
    return dropped
  }

  return {
    drop,
    get: (key: string): EpochMs | undefined => ends.get(key),
    delete: (key: string): boolean => ends.delete(key),
    set(key: string, expiresAt: EpochMs, now: EpochMs): void {
      if (!ends.has(key) && ends.size >= capacity && (now < earliest || drop(now, Infinity) === 0)) {
        throw new Fault('ERR_STORE_FULL', `the memory holds ${capacity} live keys`)
      }
      ends.set(key, expiresAt)
      earliest = Math.min(earliest, expiresAt)
    },
  }
}

/**
 * Replay memory of one process, gone when it ends. For tests and single-process tools: after a restart a
 * statement that is still in its window could be used again.
 */
export function memoryStorage(options: MemoryStorageOptions = {}): ChallengeStorage {
  const { capacity = 100_000 } = options
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    throw new TypeError(`capacity must be an integer of at least 1, not ${String(capacity)}`)
  }
  warnMemoryStorage('NonceStorage')
  const nonces = boundedKeys(capacity)
  const challenges = boundedKeys(capacity)
  return {
    async claim(key, expiresAt, now) {
      const until = nonces.get(key)
      if (until !== undefined && now < until) return false
      nonces.set(key, expiresAt, now)
      return true
    },
    async issue(key, expiresAt, now) {
      if (challenges.get(key) !== undefined) return false
      challenges.set(key, expiresAt, now)
      return true
    },
    async consume(key, now) {
      const until = challenges.get(key)
      challenges.delete(key)
      return until !== undefined && now < until
    },
    async collect(limit, now) {
      const dropped = nonces.drop(now - GRACE_MS, limit)
      return dropped + challenges.drop(now - GRACE_MS, limit - dropped)
    },
  }
}
