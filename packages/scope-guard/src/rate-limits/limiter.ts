import { Fault, type Clock } from '@gatewright/kernel'
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { withinTime } from '../timeout.ts'
import type { LimitState } from './header-fields.ts'
import type { CheckedLimit } from './options.ts'
import { createWindowCounter, type CountedWindow } from './window-counter.ts'

/** The result of taking one point from one limit. */
export interface LimitResult {
  /** The limiter that counted: the fallback if the store was down. A point is returned to the same limiter. */
  readonly countedBy: Limiter
  readonly state: LimitState
  /** Whether the limit was used up before this request. */
  readonly isOver: boolean
  /** How long the window lasted from the moment the point was taken. */
  readonly msBeforeNext: number
  /** Where this process counted it; undefined if a store did. */
  readonly window: CountedWindow | undefined
}

/** One limit over its store. The library throws both denials and errors; this interface distinguishes them. */
export interface Limiter {
  readonly options: CheckedLimit
  /**
   * Takes one point. Returns no promise if this process counts. Faults, rejected: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; the point may
   * have been taken.
   */
  take(bucket: string): LimitResult | Promise<LimitResult>
  /**
   * Returns a point that was taken at `requestedAt` (`performance.now()`), unless its window may have ended: the next window
   * would then have one point too many.
   */
  giveBack(result: LimitResult, bucket: string, requestedAt: number): Promise<void>
  /** The same limit in this process's memory; undefined if it has no fallback. */
  readonly local?: Limiter
}

/** The functions of the library's limiters that are used. */
type Counter = Pick<RateLimiterAbstract, 'consume' | 'reward'>

/** How long after the decision a returned point may take effect in a store, in ms, beside the time limit of the call. */
const STORE_MARGIN_MS = 2000

/** Makes one limit. `clock` is for what this process counts. */
export function createLimiter(options: CheckedLimit, clock: Clock): Limiter {
  const { name, points, windowSeconds, store, localPoints } = options
  if (!store) return inMemory(options, points, clock)
  const limiter = store({ keyPrefix: name, points, duration: windowSeconds })
  const shared = limiterOver(options, limiter)
  return localPoints === undefined ? shared : { ...shared, local: inMemory(options, localPoints, clock) }
}

/**
 * Takes one point. If the store is down, takes it from the limit's fallback in this process, if there is one. Returns no promise if
 * there is no store. Faults, rejected: as `Limiter.take`.
 */
export function takeWithFallback(limiter: Limiter, bucket: string): LimitResult | Promise<LimitResult> {
  return limiter.local ? takeOrCountHere(limiter, limiter.local, bucket) : limiter.take(bucket)
}

async function takeOrCountHere(limiter: Limiter, local: Limiter, bucket: string): Promise<LimitResult> {
  try {
    return await limiter.take(bucket)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return local.take(bucket)
  }
}

/** Makes a limit that this process counts. */
function inMemory(options: CheckedLimit, points: number, clock: Clock): Limiter {
  const { name, windowSeconds } = options
  const count = createWindowCounter(windowSeconds * 1000)
  const limiter: Limiter = {
    options,
    take(bucket) {
      const now = clock.now()
      const window = count(bucket, now)
      const msBeforeNext = window.until - now
      const resetSeconds = Math.ceil(msBeforeNext / 1000)
      const state = { name, remaining: Math.max(0, points - window.used), resetSeconds }
      return { countedBy: limiter, state, isOver: window.used > points, msBeforeNext, window }
    },
    async giveBack({ window }) {
      if (window) window.used--
    },
  }
  return limiter
}

function limiterOver(options: CheckedLimit, counter: Counter): Limiter {
  const marginMs = STORE_MARGIN_MS + options.storeTimeoutMs
  const limiter: Limiter = {
    options,
    take: bucket => takePoint(limiter, counter, bucket),
    async giveBack({ msBeforeNext }, bucket, requestedAt) {
      if (performance.now() - requestedAt + marginMs >= msBeforeNext) return
      await counter.reward(bucket, 1).catch(() => undefined)
    },
  }
  return limiter
}

async function takePoint(countedBy: Limiter, counter: Counter, bucket: string): Promise<LimitResult> {
  const { name, storeTimeoutMs } = countedBy.options
  const { result, isOver } = await withinTime(`the store of the limit ${name}`, storeTimeoutMs, () =>
    consume(counter, bucket),
  )
  const { remainingPoints: remaining, msBeforeNext } = result
  // With NaN every comparison would be false, so that every request would pass.
  if (!Number.isFinite(remaining) || !(msBeforeNext >= 0) || msBeforeNext === Infinity) {
    throw new Fault('ERR_STORE_REPLY', `the store of the limit ${name} sent a malformed reply`)
  }
  const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return { countedBy, state: { name, remaining, resetSeconds }, isOver, msBeforeNext, window: undefined }
}

async function consume(
  counter: Counter,
  bucket: string,
): Promise<{ readonly result: RateLimiterRes; readonly isOver: boolean }> {
  try {
    return { result: await counter.consume(bucket), isOver: false }
  } catch (error) {
    if (isResult(error)) return { result: error, isOver: true }
    throw error
  }
}

/** The library rejects with a result if the limit is reached, and with an error if its store failed. */
function isResult(value: unknown): value is RateLimiterRes {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value
}
