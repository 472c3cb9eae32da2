import { Fault, type Clock, type OptionNames } from '@gatewright/kernel'
import { LRUCache } from 'lru-cache'
import { createLimiter, type Limiter } from './limiter.ts'
import { checkedLimit, type LimiterStore } from './options.ts'

/** The budget of a client address for credentials that do not prove themselves. */
export interface FailureOptions {
  /** Failures per window and address (IPv4, or IPv6 /64). Default 60. */
  readonly points?: number
  /** Default 60. */
  readonly windowSeconds?: number
  /** Where processes tell each other of failures. Each also counts its own, which alone count while the store is down. */
  readonly store?: LimiterStore
  /** Credentials that may wait for their check, of all addresses whose budget is used up, 1 to 65 536. Default 1024. */
  readonly waiting?: number
  /** Those of one such address, 1 to `waiting`. Default 256, or `waiting` where that is less. */
  readonly waitingPerAddress?: number
}

/** Their names. */
export const FAILURE_OPTIONS: OptionNames<FailureOptions> = {
  points: true,
  windowSeconds: true,
  store: true,
  waiting: true,
  waitingPerAddress: true,
}

/** Counts failed credentials by bucket of addresses. No key or account is charged: nobody uses up another's budget. */
export interface FailureBudget {
  /** Whether the bucket has no failure left in this window, as far as this process knows. */
  isUsedUp(bucket: string): boolean
  /**
   * Counts a failure, in this process at once. Resolves when the shared store knows; its faults are ignored, because
   * the budget decides about the order of work and never about a credential.
   */
  charge(bucket: string): Promise<void>
}

/** A fixed window of one bucket, from its first failure. */
interface FailureWindow {
  readonly left: number
  readonly until: number
}

/** Most buckets counted. The least recently used is forgotten first, and has its whole budget again. */
const MOST_BUCKETS = 16_384

/** Builds the budget. Throws a `TypeError` for a wrong option. */
export function createFailureBudget(name: string, options: FailureOptions, clock: Clock): FailureBudget {
  const { points = 60, windowSeconds = 60, store } = options
  const limit = checkedLimit({ name, points, windowSeconds, per: 'address' })
  const shared = store && createLimiter({ ...limit, store })
  const windows = new LRUCache<string, FailureWindow>({ max: MOST_BUCKETS })

  const current = (bucket: string, now: number): FailureWindow => {
    const window = windows.get(bucket)
    const runs = window !== undefined && now < window.until && window.until <= now + windowSeconds * 1000
    return runs ? window : { left: points, until: now + windowSeconds * 1000 }
  }
  const chargeStore = async (limiter: Limiter, bucket: string): Promise<void> => {
    try {
      const { state, msBeforeNext } = await limiter.take(bucket)
      if (state.remaining === 0) windows.set(bucket, { left: 0, until: clock.now() + msBeforeNext })
    } catch (error) {
      if (!(error instanceof Fault)) throw error
    }
  }
  return {
    isUsedUp: bucket => current(bucket, clock.now()).left === 0,
    async charge(bucket) {
      const { left, until } = current(bucket, clock.now())
      // What is used up stays so: a flood costs no call to the store.
      if (left === 0) return
      windows.set(bucket, { left: left - 1, until })
      if (shared) await chargeStore(shared, bucket)
    },
  }
}
