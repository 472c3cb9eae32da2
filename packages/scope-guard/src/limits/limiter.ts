import { Fault } from '@gatewright/kernel'
import {
  RateLimiterMemory,
  RLWrapperTimeouts,
  type RateLimiterAbstract,
  type RateLimiterRes,
} from 'rate-limiter-flexible'
import type { LimitState } from './fields.ts'
import { checkedLimit, type LimitOptions } from './options.ts'

/** What one limit answers to one request. */
export interface LimitAnswer {
  /** The limiter that counted: the fallback where the store was down. A point goes back to where it came from. */
  readonly by: Limiter
  readonly state: LimitState
  /** Whether the limit was used up before this request. */
  readonly isOver: boolean
  /** How long the window still lasted when the point was taken. */
  readonly msBeforeNext: number
}

/** One limit over its store, with the library's results told from its errors. */
export interface Limiter {
  readonly options: LimitOptions
  /** Takes one point. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; the point may have been taken. */
  take(bucket: string): Promise<LimitAnswer>
  /**
   * Gives back a point that was asked for at `askedAt` (`performance.now()`), unless its window may have ended: a
   * point given to a new window would be one too many.
   */
  giveBack(bucket: string, answer: LimitAnswer, askedAt: number): Promise<void>
  /** The same limit in this process's memory, or undefined when it has no fallback. */
  readonly local?: Limiter
}

/** The part of a limiter of the library that is used. */
type Counter = Pick<RateLimiterAbstract, 'consume' | 'reward'>

/** How much later than decided a give-back may take effect, in ms; for a store, beside its own time limit. */
const MEMORY_MARGIN_MS = 20
const STORE_MARGIN_MS = 2000

/** Builds one limit. Throws a `TypeError` for a wrong option. */
export function createLimiter(given: LimitOptions): Limiter {
  const options = checkedLimit(given)
  const { name, points, windowSeconds, store, storeTimeoutMs = 1000, localPoints } = options
  if (!store) return inMemory(options, points)
  const limiter = store({ keyPrefix: name, points, duration: windowSeconds })
  const timed = new RLWrapperTimeouts({ limiter, timeoutMs: storeTimeoutMs })
  const shared = limiterOver(options, timed, STORE_MARGIN_MS + storeTimeoutMs)
  return localPoints === undefined ? shared : { ...shared, local: inMemory(options, localPoints) }
}

/** Takes one point, from the limit's fallback in this process when its store is down and it has one. */
export async function takeWithFallback(limiter: Limiter, bucket: string): Promise<LimitAnswer> {
  try {
    return await limiter.take(bucket)
  } catch (error) {
    if (!limiter.local || !(error instanceof Fault)) throw error
    return limiter.local.take(bucket)
  }
}

/** A limit that this process counts. */
function inMemory(options: LimitOptions, points: number): Limiter {
  // Each has a map of its own, so its buckets need no prefix.
  const counter = new RateLimiterMemory({ keyPrefix: '', points, duration: options.windowSeconds })
  return limiterOver(options, counter, MEMORY_MARGIN_MS)
}

function limiterOver(options: LimitOptions, counter: Counter, marginMs: number): Limiter {
  const limiter: Limiter = {
    options,
    take: bucket => takePoint(limiter, counter, bucket),
    async giveBack(bucket, { msBeforeNext }, askedAt) {
      if (performance.now() - askedAt + marginMs >= msBeforeNext) return
      await counter.reward(bucket, 1).catch(() => undefined)
    },
  }
  return limiter
}

async function takePoint(by: Limiter, counter: Counter, bucket: string): Promise<LimitAnswer> {
  const { name } = by.options
  let result: RateLimiterRes
  let isOver = false
  try {
    result = await counter.consume(bucket)
  } catch (error) {
    if (!isResult(error)) {
      throw new Fault('ERR_STORE_UNAVAILABLE', `the store of the limit ${name} failed`, { cause: error })
    }
    result = error
    isOver = true
  }
  const { remainingPoints: remaining, msBeforeNext } = result
  // A result without numbers would compare as "not over" and let everything pass.
  if (!Number.isFinite(remaining) || !(msBeforeNext >= 0) || msBeforeNext === Infinity) {
    throw new Fault('ERR_STORE_REPLY', `the store of the limit ${name} sent a malformed reply`)
  }
  const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return { by, state: { name, remaining, resetSeconds }, isOver, msBeforeNext }
}

/** The library rejects with a result when the limit is reached and with an error when its store failed. */
function isResult(value: unknown): value is RateLimiterRes {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value
}
