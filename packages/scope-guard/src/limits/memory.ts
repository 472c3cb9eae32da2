import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'

/** Where the library's memory limiter counts: takes points and says how the bucket stands, at once. */
interface Counts {
  incrby(key: string, points: number, durationSeconds: number): RateLimiterRes
}

/**
 * The library's memory limiter, also asked without a promise: it counts at once, and on every guarded request its
 * promise cost more than the counting. `_memoryStorage` is not documented, and the version is pinned. See
 * docs/decisions/0021-memory-limits-at-once.md.
 */
export class MemoryLimiter extends RateLimiterMemory {
  declare protected readonly _memoryStorage: Counts

  /** Takes a point as `consume(bucket)` does. Of the result only `consumedPoints` and `msBeforeNext` are set. */
  consumeNow(bucket: string): RateLimiterRes {
    // oxlint-disable-next-line no-underscore-dangle -- The library's own name.
    return this._memoryStorage.incrby(this.getKey(bucket), 1, this.duration)
  }
}
