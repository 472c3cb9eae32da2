import { type EpochMs, Fault, GRACE_MS, checkOptions, warnMemoryStorage } from '@gatewright/kernel'
import type { IdempotencyStorage } from './port.ts'

/** Options of `memoryIdempotency`. */
export interface MemoryIdempotencyOptions {
  /** Maximum number of records, at least 1, default 10 000; with responses of 256 KiB each that is 2.5 GiB. */
  readonly capacity?: number
}

/**
 * Keeps the records in the memory of this process. They are lost when the process ends. For tests and single-process tools:
 * after a restart a retry runs the write again, with the same `effectId`.
 */
export function memoryIdempotency(options: MemoryIdempotencyOptions = {}): IdempotencyStorage {
  const { capacity } = checkOptions('memoryIdempotency', options, {
    capacity: { min: 1, max: Infinity, default: 10_000 },
  })
  warnMemoryStorage('IdempotencyStorage')
  const records = new Map<
    string,
    {
      readonly fingerprint: string
      readonly fence: number
      readonly state: 'running' | 'done' | 'free'
      /** While running the end of the lease, otherwise the end of the retention. */
      readonly until: EpochMs
      readonly response: string
    }
  >()

  const deleteExpired = (cutoff: EpochMs, limit: number): number => {
    let deleted = 0
    for (const [key, record] of records) {
      if (deleted === limit) break
      if (record.state === 'running' || record.until > cutoff) continue
      records.delete(key)
      deleted++
    }
    return deleted
  }

  return {
    async begin(key, fingerprint, leaseUntil, now) {
      const record = records.get(key)
      if (record && record.state !== 'free' && (record.state === 'running' || now < record.until)) {
        if (record.fingerprint !== fingerprint) return { state: 'reused' }
        if (record.state === 'done') {
          return { state: 'done', response: record.response, expiresAt: record.until }
        }
        return now < record.until ? { state: 'running' } : { state: 'lost', fence: record.fence }
      }
      if (!record && records.size >= capacity && deleteExpired(now, Infinity) === 0) {
        throw new Fault('ERR_STORE_FULL', `the idempotency memory is full: it has ${capacity} live records`)
      }
      const fence = record ? Math.max(record.fence + 1, now) : now
      records.set(key, { fingerprint, fence, state: 'running', until: leaseUntil, response: '' })
      return { state: 'started', fence }
    },

    async end(key, fence, ending) {
      const record = records.get(key)
      if (!record || record.fence !== fence) return false
      const response = ending.state === 'done' ? ending.response : ''
      if (record.state !== 'running') return record.state === ending.state && record.response === response
      records.set(key, {
        ...record,
        response,
        state: ending.state === 'lost' ? 'running' : ending.state,
        until: ending.state === 'lost' ? 0 : ending.expiresAt,
      })
      return true
    },

    collect: async (limit, now) => deleteExpired(now - GRACE_MS, limit),
  }
}
