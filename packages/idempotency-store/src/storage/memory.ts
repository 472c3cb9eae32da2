import { Fault, GRACE_MS, type EpochMs } from '@gatewright/kernel'
import { checkOptions, warnMemoryStorage } from '@gatewright/kernel/internal'
import type { IdempotencyStorage, RunLabel, RunRecord } from './port.ts'

/** Options of `memoryIdempotency`. */
export interface MemoryIdempotencyOptions {
  /** Maximum number of records, at least 1, default 10 000; with responses of 256 KiB each that is 2.5 GiB. */
  readonly capacity?: number
}

interface MemoryRecord extends RunRecord {
  readonly response: string
}

const NO_LABEL: RunLabel = { operation: '', account: '' }

/** Returns the running record with this fence. Undefined if the run has ended, or the key has a newer one. */
function running(record: MemoryRecord | undefined, fence: number): MemoryRecord | undefined {
  return record?.fence === fence && record.state === 'running' ? record : undefined
}

const isAfter = (
  one: Pick<RunRecord, 'beganAt' | 'key'>,
  other: Pick<RunRecord, 'beganAt' | 'key'>,
): boolean => (one.beganAt === other.beganAt ? one.key > other.key : one.beganAt > other.beganAt)

const withoutResponse = ({ response: _response, ...record }: MemoryRecord): RunRecord => record

/**
 * Keeps the records in the memory of this process. They are lost when the process ends. For tests and single-process tools:
 * after a restart a retry runs the write again, with the same `effectId`.
 */
export function memoryIdempotency(options: MemoryIdempotencyOptions = {}): IdempotencyStorage {
  const { capacity } = checkOptions('memoryIdempotency', options, {
    capacity: { min: 1, max: Infinity, default: 10_000 },
  })
  warnMemoryStorage('IdempotencyStorage')
  const records = new Map<string, MemoryRecord>()

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
    async begin(key, fingerprint, leaseUntil, now, { operation, account } = NO_LABEL) {
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
      records.set(key, {
        key,
        fingerprint,
        fence,
        operation,
        account,
        beganAt: now,
        state: 'running',
        until: leaseUntil,
        response: '',
        decision: record?.decision ?? null,
      })
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
        decision: (ending.state === 'lost' ? undefined : ending.decision) ?? record.decision,
      })
      return true
    },

    async extend(key, fence, leaseUntil, now) {
      const record = running(records.get(key), fence)
      if (!record || now >= record.until) return false
      records.set(key, { ...record, until: Math.max(record.until, leaseUntil) })
      return true
    },

    async takeOver(key, fence, leaseUntil, now) {
      const record = running(records.get(key), fence)
      if (!record || now < record.until) return undefined
      const taken = Math.max(fence + 1, now)
      records.set(key, { ...record, fence: taken, until: leaseUntil })
      return taken
    },

    async listLost({ limit, now, account, after }) {
      const isListed = (record: MemoryRecord): boolean =>
        record.state === 'running' &&
        record.until <= now &&
        (account === undefined || record.account === account) &&
        (!after || isAfter(record, after))
      const lost = [...records.values()].filter(isListed)
      return lost
        .sort((one, other) => (isAfter(one, other) ? 1 : -1))
        .slice(0, limit)
        .map(withoutResponse)
    },

    async find(key) {
      const record = records.get(key)
      return record && withoutResponse(record)
    },

    collect: async (limit, now) => deleteExpired(now - GRACE_MS, limit),
  }
}
