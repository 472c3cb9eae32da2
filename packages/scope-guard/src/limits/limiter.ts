import { Fault } from '@gatewright/kernel'
import { RLWrapperTimeouts, type RateLimiterAbstract, type RateLimiterRes } from 'rate-limiter-flexible'
import type { LimitState } from './fields.ts'
import { MemoryLimiter } from './memory.ts'
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
   * Takes one point and goes on with `use` in the same step: on every request's path a promise less, and none in
   * memory. `asked` is handed on to it. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; the point may have been
   * taken.
   */
  take<Q, T>(bucket: string, asked: Q, use: (asked: Q, taken: Taken) => T | Promise<T>): T | Promise<T>
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

/** Reads what the library answers about one limit. */
function reader(name: string): (over: boolean, remaining: number, result: RateLimiterRes) => Taken {
  // Never read. V8 forgets compiled code at a full collection when no object of a shape that it was made for is left.
  const kept: { newest?: RateLimiterRes } = {}
  return (over, remaining, result) => {
    const { msBeforeNext } = result
    // A result without numbers would compare as "not over" and let everything pass.
    if (!Number.isFinite(remaining) || !(msBeforeNext >= 0) || msBeforeNext === Infinity) {
      throw new Fault('ERR_STORE_REPLY', `the store of the limit ${name} sent a malformed reply`)
    }
    kept.newest = result
    const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
    const state = { name, remaining, resetSeconds }
    return { refused: over ? state : undefined, states: [state], state, msBeforeNext }
  }
}

const giveBackTo =
  (limiter: Pick<RateLimiterAbstract, 'reward'>, marginMs: number): Limiter['giveBack'] =>
  async (bucket, { msBeforeNext }, askedAt) => {
    if (performance.now() - askedAt + marginMs >= msBeforeNext) return
    await limiter.reward(bucket, 1).catch(() => undefined)
  }

/** How much later than decided a give-back may take effect, in ms; for a store, beside its own time limit. */
const MEMORY_MARGIN_MS = 20
const STORE_MARGIN_MS = 2000

/** A limit that this process counts: it answers at once. */
function inMemory(options: LimitOptions, points: number): Limiter {
  const { name, windowSeconds } = options
  // Each has a map of its own. A prefix would make a new text of each bucket, to be hashed on every request.
  const limiter = new MemoryLimiter({ keyPrefix: '', points, duration: windowSeconds })
  const read = reader(name)
  return {
    options,
    take(bucket, asked, use) {
      const result = limiter.consumeNow(bucket)
      const remaining = points - result.consumedPoints
      return use(asked, read(remaining < 0, Math.max(remaining, 0), result))
    },
    giveBack: giveBackTo(limiter, MEMORY_MARGIN_MS),
  }
}

/** A limit that a shared store counts. */
function inStore(options: LimitOptions, limiter: RateLimiterAbstract, storeTimeoutMs: number): Limiter {
  const { name } = options
  const read = reader(name)
  const refused = (error: unknown): Taken => {
    if (isResult(error)) return read(true, error.remainingPoints, error)
    throw new Fault('ERR_STORE_UNAVAILABLE', `the store of the limit ${name} failed`, { cause: error })
  }
  const timed = new RLWrapperTimeouts({ limiter, timeoutMs: storeTimeoutMs })
  return {
    options,
    // One function for all calls: V8 forgets the compiled code of closures made per call at each full collection.
    async take(bucket, asked, use) {
      let result: RateLimiterRes
      try {
        result = await timed.consume(bucket)
      } catch (error) {
        return use(asked, refused(error))
      }
      return use(asked, read(false, result.remainingPoints, result))
    },
    giveBack: giveBackTo(timed, STORE_MARGIN_MS + storeTimeoutMs),
  }
}

/** Builds one limit. Throws a `TypeError` for a wrong option. */
export function createLimiter(given: LimitOptions): Limiter {
  const options = checkedLimit(given)
  const { name, points, windowSeconds, store, storeTimeoutMs = 1000, localPoints } = options
  if (!store) return inMemory(options, points)
  const shared = inStore(options, store({ keyPrefix: name, points, duration: windowSeconds }), storeTimeoutMs)
  return localPoints === undefined ? shared : { ...shared, local: inMemory(options, localPoints) }
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
