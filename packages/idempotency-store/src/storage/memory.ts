import {
  type EpochMs,
  Fault,
  GRACE_MS,
  integerOption,
  knownOptions,
  type OptionNames,
  warnMemoryStorage,
} from '@gatewright/kernel'
import type { IdempotencyStorage } from './port.ts'

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /** Most records held at once. Default 10 000; with answers of 256 KiB that is 2.5 GiB, so mind the size. */
  readonly capacity?: number
}

const OPTIONS: OptionNames<MemoryStorageOptions> = { capacity: true }

interface Held {
  readonly fingerprint: string
  readonly fence: number
  readonly state: 'running' | 'done' | 'free'
  /** End of the lease while running, of the retention otherwise. */
  readonly until: EpochMs
  readonly answer: string
}

/**
 * Records of one process, gone when it ends. For tests and single-process tools: after a restart a retry runs
 * the write again, with the same `effectId`.
 */
export function memoryStorage(options: MemoryStorageOptions = {}): IdempotencyStorage {
  const { capacity = 10_000 } = knownOptions('memoryStorage', options, OPTIONS)
  integerOption('capacity', capacity, 1, Number.POSITIVE_INFINITY)
  warnMemoryStorage('IdempotencyStorage')
  const records = new Map<string, Held>()

  const drop = (cutoff: EpochMs, limit: number): number => {
    let dropped = 0
    for (const [key, held] of records) {
      if (dropped === limit) break
      if (held.state === 'running' || held.until > cutoff) continue
      records.delete(key)
      dropped++
    }
    return dropped
  }

  return {
    async begin(key, fingerprint, leaseUntil, now) {
      const held = records.get(key)
      if (held && held.state !== 'free' && (held.state === 'running' || now < held.until)) {
        if (held.fingerprint !== fingerprint) return { state: 'reused' }
        if (held.state === 'done') return { state: 'done', answer: held.answer, expiresAt: held.until }
        return now < held.until ? { state: 'running' } : { state: 'lost', fence: held.fence }
      }
      if (!held && records.size >= capacity && drop(now, Infinity) === 0) {
        throw new Fault('ERR_STORE_FULL', `the idempotency memory holds ${capacity} live records`)
      }
      const fence = held ? Math.max(held.fence + 1, now) : now
      records.set(key, { fingerprint, fence, state: 'running', until: leaseUntil, answer: '' })
      return { state: 'started', fence }
    },

    async end(key, fence, ending) {
      const held = records.get(key)
      if (!held || held.fence !== fence) return false
      const answer = ending.state === 'done' ? ending.answer : ''
      if (held.state !== 'running') return held.state === ending.state && held.answer === answer
      records.set(key, {
        ...held,
        answer,
        state: ending.state === 'lost' ? 'running' : ending.state,
        until: ending.state === 'lost' ? 0 : ending.expiresAt,
      })
      return true
    },

    collect: async (limit, now) => drop(now - GRACE_MS, limit),
  }
}
