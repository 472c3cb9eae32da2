import { Fault, type Clock } from '@gatewright/kernel'
import { LRUCache } from '#platform/lru'
import { createLimiter, type Limiter } from './limiter.ts'
import type { CheckedFailureOptions } from './failure-options.ts'
import { checkedRateLimit } from './options.ts'
import { isCurrentWindow } from './window-counter.ts'

/** Counts failed credentials per address bucket. Keys and accounts are not charged, so no caller can use up another's budget. */
interface FailureBudget {
  /** Whether the bucket has no failure left in this window, as far as this process knows. */
  isUsedUp(bucket: string): boolean
  /**
   * Counts a failure. This process counts it immediately; the promise resolves when the shared store has counted it, too.
   * Faults of the store are ignored, because the budget decides about the order of work and never about a credential.
   */
  charge(bucket: string): Promise<void>
}

/** The fixed window of one bucket. It begins with the bucket's first failure. */
interface FailureWindow {
  readonly left: number
  readonly until: number
}

/** How many buckets are counted. The least recently used bucket is evicted first, which resets its budget. */
const MAX_BUCKETS = 16_384

/** Makes the budget. Throws a `TypeError` for a wrong name. */
export function createFailureBudget(
  name: string,
  { points, windowSeconds, store }: CheckedFailureOptions,
  clock: Clock,
): FailureBudget {
  const limit = checkedRateLimit('createFailureLimit', { name, points, windowSeconds })
  const shared = store && createLimiter({ ...limit, store }, clock)
  const windowMs = windowSeconds * 1000
  const windows = new LRUCache<string, FailureWindow>({ maxSize: MAX_BUCKETS })

  const current = (bucket: string, now: number): FailureWindow => {
    const window = windows.get(bucket)
    return window !== undefined && isCurrentWindow(window, now, windowMs)
      ? window
      : { left: points, until: now + windowMs }
  }
  const chargeStore = async (limiter: Limiter, bucket: string): Promise<void> => {
    try {
      const { state, msBeforeNext } = await limiter.take(bucket)
      if (state.remaining === 0)
        windows.set(bucket, { left: 0, until: clock.now() + msBeforeNext }, { size: 1 })
    } catch (error) {
      if (!(error instanceof Fault)) throw error
    }
  }
  return {
    isUsedUp: bucket => current(bucket, clock.now()).left === 0,
    async charge(bucket) {
      const { left, until } = current(bucket, clock.now())
      // A used-up budget needs no further count, so a flood costs no calls to the store.
      if (left === 0) return
      windows.set(bucket, { left: left - 1, until }, { size: 1 })
      if (shared) await chargeStore(shared, bucket)
    },
  }
}
