import { allow, type Verdict, type Clock, type HeaderField } from '@gatewright/kernel'
import { systemClock } from '@gatewright/kernel/internal'
import { rateLimited } from '../access.ts'
import type { GuardDenial } from '../codes.ts'
import { policyField, rateLimitFields } from './header-fields.ts'
import { createLimiter, takeWithFallback } from './limiter.ts'
import { checkedRateLimit, type RateLimitOptions } from './options.ts'

/** One rate limit outside guarded requests, such as on sign-in per address or on new sessions per key. */
export interface RateLimit {
  /**
   * Takes one point from a bucket. The value is the header fields of the response. Denial: `rate_limited`. Faults:
   * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; the point may have been taken. With `localPoints` this process counts
   * while the store is down.
   */
  take(bucket: string): Promise<Verdict<readonly HeaderField[], GuardDenial>>
}

/**
 * Makes one limit. By `clock`, the machine's by default, this process ends the windows that it counts itself; a store has a clock of its
 * own. Throws a `TypeError` for a wrong option.
 */
export function createRateLimit(options: RateLimitOptions, clock: Clock = systemClock): RateLimit {
  const limiter = createLimiter(checkedRateLimit('createRateLimit', options), clock)
  const policy = policyField([options])
  return {
    async take(bucket) {
      const { state, isOver } = await takeWithFallback(limiter, bucket)
      const headers = rateLimitFields(policy, [state])
      return isOver ? rateLimited(state, headers) : allow(headers)
    },
  }
}
