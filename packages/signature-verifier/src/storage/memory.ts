import { Fault, GRACE_MS, warnMemoryStorage, type EpochMs } from '@gatewright/kernel'
import type { NonceStorage } from './port.ts'

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /** Most keys held at once, live or within their grace. Default 100 000, about 12 MB. */
  readonly capacity?: number
}

/**
 * Replay memory of one process, gone when it ends. For tests and single-process tools: after a restart a
 * statement that is still in its window could be used again.
 */
export function memoryStorage(options: MemoryStorageOptions = {}): NonceStorage {
  const { capacity = 100_000 } = options
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    throw new TypeError(`capacity must be an integer of at least 1, not ${String(capacity)}`)
  }
  warnMemoryStorage('NonceStorage')
  const live = new Map<string, EpochMs>()
  /** No key ends before this instant, so a full store is not searched again before it. */
  let earliest: EpochMs = -Infinity

  /** Deletes up to `limit` keys that ended by `cutoff`. */
  const drop = (cutoff: EpochMs, limit: number): number => {
    let dropped = 0
    let next = Infinity
    for (const [key, expiresAt] of live) {
      if (expiresAt <= cutoff && dropped < limit) {
        live.delete(key)
        dropped++
      } else next = Math.min(next, expiresAt)
    }
    earliest = next
    return dropped
  }

  return {
    async claim(key, expiresAt, now) {
      const until = live.get(key)
      if (until !== undefined && now < until) return false
      if (until === undefined && live.size >= capacity && (now < earliest || drop(now, Infinity) === 0)) {
        throw new Fault('ERR_STORE_FULL', `the nonce memory holds ${capacity} live keys`)
      }
      live.set(key, expiresAt)
      earliest = Math.min(earliest, expiresAt)
      return true
    },
    async collect(limit, now) {
      return drop(now - GRACE_MS, limit)
    },
  }
}
