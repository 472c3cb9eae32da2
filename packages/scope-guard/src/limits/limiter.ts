import { Fault } from '@gatewright/kernel'
import {
  RateLimiterMemory,
  RLWrapperTimeouts,
  type RateLimiterAbstract,
  type RateLimiterRes,
} from 'rate-limiter-flexible'
import type { LimitState } from './fields.ts'
import { checkedLimit, type LimitOptions } from './options.ts'

/** What limits say to one request. */
export interface LimitsTaken {
  /** The limit that refuses, the one with the longest wait where several do. */
  readonly refused: LimitState | undefined
  readonly states: readonly LimitState[]
}

/** What one limit says to one request. */
export interface Taken extends LimitsTaken {
  readonly state: LimitState
  /** How long the window still lasted when the point was taken. */
  readonly msBeforeNext: number
}

/** One limit over its store, with the library's results told from its errors. */
export interface Limiter {
  readonly options: LimitOptions
  /**
   * Takes one point and goes on with `use` in the same step: on every request's path a promise less. `asked` is
   * handed on to it. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; the point may have been taken.
   */
  take<Q, T>(bucket: string, asked: Q, use: (asked: Q, taken: Taken) => T | Promise<T>): Promise<T>
  /**
   * Gives back a point that was asked for at `askedAt` (`performance.now()`), unless its window may have ended: a
   * point given to a new window would be one too many.
   */
  giveBack(bucket: string, taken: Taken, askedAt: number): Promise<void>
  /** The same limit in this process's memory, or undefined when it has no fallback. */
  readonly local?: Limiter
}

/** The library rejects with a result when the limit is reached and with an error when its store failed. */
function isResult(value: unknown): value is RateLimiterRes {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value
}

function limiterOver(
  options: LimitOptions,
  limiter: Pick<RateLimiterAbstract, 'consume' | 'reward'>,
  marginMs: number,
): Limiter {
  const { name } = options
  // Never read. V8 forgets compiled code at a full collection when no object of a shape that it was made for is left.
  const kept: { newest?: RateLimiterRes } = {}
  const read = (over: boolean, result: RateLimiterRes): Taken => {
    const { remainingPoints, msBeforeNext } = result
    // A result without numbers would compare as "not over" and let everything pass.
    if (!Number.isFinite(remainingPoints) || !(msBeforeNext >= 0) || msBeforeNext === Infinity) {
      throw new Fault('ERR_STORE_REPLY', `the store of the limit ${name} sent a malformed reply`)
    }
    kept.newest = result
    const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
    const state = { name, remaining: remainingPoints, resetSeconds }
    return { refused: over ? state : undefined, states: [state], state, msBeforeNext }
  }
  const refused = (error: unknown): Taken => {
    if (isResult(error)) return read(true, error)
    throw new Fault('ERR_STORE_UNAVAILABLE', `the store of the limit ${name} failed`, { cause: error })
  }
  return {
    options,
    // One function for all calls: V8 forgets the compiled code of closures made per call at each full collection.
    async take(bucket, asked, use) {
      let result: RateLimiterRes
      try {
        result = await limiter.consume(bucket)
      } catch (error) {
        return use(asked, refused(error))
      }
      return use(asked, read(false, result))
    },
    async giveBack(bucket, { msBeforeNext }, askedAt) {
      if (performance.now() - askedAt + marginMs >= msBeforeNext) return
      await limiter.reward(bucket, 1).catch(() => undefined)
    },
  }
}

/** For `take` where nothing follows. */
export const asItIs = (_: undefined, taken: Taken): Taken => taken

/**
 * Takes one point, from the limit's fallback in this process when its store is down and it has one. Only for what
 * may go on without the store. `by` is the limiter that counted.
 */
export async function takeAnyhow(
  limiter: Limiter,
  bucket: string,
): Promise<{ readonly by: Limiter; readonly taken: Taken }> {
  try {
    return { by: limiter, taken: await limiter.take(bucket, undefined, asItIs) }
  } catch (error) {
    const { local } = limiter
    if (!local || !(error instanceof Fault)) throw error
    return { by: local, taken: await local.take(bucket, undefined, asItIs) }
  }
}

/** How much later than decided a give-back may take effect, in ms; for a store, beside its own time limit. */
const MEMORY_MARGIN_MS = 20
const STORE_MARGIN_MS = 2000

/** Builds one limit. Throws a `TypeError` for a wrong option. */
export function createLimiter(given: LimitOptions): Limiter {
  const options = checkedLimit(given)
  const { name, points, windowSeconds, store, storeTimeoutMs = 1000, localPoints } = options
  const settings = { keyPrefix: name, points, duration: windowSeconds }
  // Each has a map of its own. A prefix would make a new text of each bucket, to be hashed on every request.
  const inMemory = { ...settings, keyPrefix: '' }
  if (!store) return limiterOver(options, new RateLimiterMemory(inMemory), MEMORY_MARGIN_MS)
  const timed = new RLWrapperTimeouts({ limiter: store(settings), timeoutMs: storeTimeoutMs })
  const shared = limiterOver(options, timed, STORE_MARGIN_MS + storeTimeoutMs)
  if (localPoints === undefined) return shared
  const memory = new RateLimiterMemory({ ...inMemory, points: localPoints })
  return { ...shared, local: limiterOver(options, memory, MEMORY_MARGIN_MS) }
}
