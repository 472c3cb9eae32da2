import { Fault } from '@gatewright/kernel'
import {
  RateLimiterMemory,
  RLWrapperTimeouts,
  type RateLimiterAbstract,
  type RateLimiterRes,
} from 'rate-limiter-flexible'
import type { LimitState } from './fields.ts'
import { checkedLimit, type LimitOptions } from './options.ts'

/** What one limit says to one request. */
export interface Taken {
  readonly over: boolean
  readonly state: LimitState
  /** Gives the point back, unless its window may have ended: a point given to a new window would be one too many. */
  giveBack(): Promise<void>
}

/** One limit over its store, with the library's results told from its errors. */
export interface Limiter {
  readonly options: LimitOptions
  /** Takes one point. Fault: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; the point may have been taken. */
  take(bucket: string): Promise<Taken>
  /** The same from this process's memory, or undefined when the limit has no fallback. */
  takeLocally?(bucket: string): Promise<Taken>
}

/** The library rejects with a result when the limit is reached and with an error when its store failed. */
function isResult(value: unknown): value is RateLimiterRes {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value
}

/** How long a give-back may be under way. A store may act on it that much later than we decided. */
const MARGIN_MS = { memory: 20, store: 2000 } as const

function taking(
  name: string,
  limiter: Pick<RateLimiterAbstract, 'consume' | 'reward'>,
  marginMs: number,
): (bucket: string) => Promise<Taken> {
  const read = (over: boolean, result: RateLimiterRes, bucket: string): Taken => {
    const { remainingPoints, msBeforeNext } = result
    // A result without numbers would compare as "not over" and let everything pass.
    if (!Number.isFinite(remainingPoints) || !Number.isFinite(msBeforeNext) || msBeforeNext < 0) {
      throw new Fault('ERR_STORE_REPLY', `the store of the limit ${name} sent a malformed reply`)
    }
    const endsAt = performance.now() + msBeforeNext - marginMs
    return {
      over,
      state: { name, remaining: remainingPoints, resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) },
      giveBack: async () => {
        if (performance.now() < endsAt) await limiter.reward(bucket, 1).catch(() => undefined)
      },
    }
  }
  return async bucket => {
    try {
      return read(false, await limiter.consume(bucket), bucket)
    } catch (error) {
      if (isResult(error)) return read(true, error, bucket)
      if (error instanceof Fault) throw error
      throw new Fault('ERR_STORE_UNAVAILABLE', `the store of the limit ${name} failed`, { cause: error })
    }
  }
}

/** Builds one limit. Throws a `TypeError` for a wrong option. */
export function createLimiter(given: LimitOptions): Limiter {
  const options = checkedLimit(given)
  const { name, points, windowSeconds, store, storeTimeoutMs = 1000, localPoints } = options
  const settings = { keyPrefix: name, points, duration: windowSeconds }
  if (!store) return { options, take: taking(name, new RateLimiterMemory(settings), MARGIN_MS.memory) }
  const shared = new RLWrapperTimeouts({ limiter: store(settings), timeoutMs: storeTimeoutMs })
  const take = taking(name, shared, MARGIN_MS.store + storeTimeoutMs)
  if (localPoints === undefined) return { options, take }
  const local = new RateLimiterMemory({ ...settings, points: localPoints })
  return { options, take, takeLocally: taking(name, local, MARGIN_MS.memory) }
}
