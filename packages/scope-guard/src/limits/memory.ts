import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { LimiterSettings } from './options.ts'

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
  declare protected readonly _memoryStorage: Counts | undefined
  readonly #counts: Counts

  /** Throws a `TypeError` where the library counts elsewhere, which another version of it may do. */
  constructor(options: LimiterSettings) {
    super(options)
    // oxlint-disable-next-line no-underscore-dangle -- The library's own name.
    const counts = this._memoryStorage
    if (typeof counts?.incrby !== 'function') throw new TypeError('install rate-limiter-flexible 11.4.0')
    this.#counts = counts
  }

  /** Takes a point as `consume(bucket)` does. Of the result only `consumedPoints` and `msBeforeNext` are set. */
  consumeNow(bucket: string): RateLimiterRes {
    return this.#counts.incrby(this.getKey(bucket), 1, this.duration)
  }
}
