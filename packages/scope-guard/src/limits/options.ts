import { integerOption } from '@gatewright/kernel'
import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import type { OptionNames } from '@gatewright/kernel'

/** What a limiter is built with. Hand it on to a rate-limiter-flexible class, with your own client. */
export interface LimiterSettings {
  readonly keyPrefix: string
  readonly points: number
  readonly duration: number
}

/**
 * Builds a limiter on a shared store, for example
 * `settings => new RateLimiterRedis({ ...settings, storeClient: client, useRedisPackage: true })`.
 */
export type LimiterStore = (settings: LimiterSettings) => RateLimiterAbstract

/**
 * One rate limit: so many requests per window and bucket. Windows are fixed and start with a bucket's first
 * request: no window lets more than `points` pass, and any stretch of one window's length at most twice as many.
 */
export interface LimitOptions {
  /** Its name in header fields, evidence and store keys: a letter, then letters, digits, `_`, `-`. */
  readonly name: string
  /** Requests per window, 1 to 1 000 000 000. */
  readonly points: number
  /**
   * 1 to 2 592 000 (30 days); where this process counts, also as a fallback, to 2 147 483 (24 days): a timer of Node
   * lasts no longer.
   */
  readonly windowSeconds: number
  /** Whose bucket a request fills. `address`: the client's IPv4 address or IPv6 /64; without one, no limit. */
  readonly per: 'key' | 'session' | 'account' | 'address'
  /** The classes of operations it binds (`Rule.limit`). Absent: every guarded request. */
  readonly classes?: readonly string[]
  /** Where it counts. Default: this process's memory. */
  readonly store?: LimiterStore
  /** How long the store may take, 1 to 60 000 ms, default 1000. Slower is down. */
  readonly storeTimeoutMs?: number
  /**
   * While the store is down, how many requests per window and bucket this process lets pass on operations that
   * spend nothing. Absent, and always for operations that spend: 503.
   */
  readonly localPoints?: number
}

/** Their names. */
export const LIMIT_OPTIONS: OptionNames<LimitOptions> = {
  name: true,
  points: true,
  windowSeconds: true,
  per: true,
  classes: true,
  store: true,
  storeTimeoutMs: true,
  localPoints: true,
}

const BUCKETS: readonly unknown[] = ['key', 'session', 'account', 'address'] satisfies LimitOptions['per'][]

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** The library forgets a bucket by a timer, and Node runs a timer of 2^31 ms or more at once. */
const LONGEST_TIMER_SECONDS = 2_147_483

/** Checks a limit. Throws a `TypeError` that names it, the option and the bound. */
export function checkedLimit(options: LimitOptions): LimitOptions {
  const { name, points, windowSeconds, per, storeTimeoutMs = 1000, localPoints = 1 } = options
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new TypeError('a limit name must be a letter and up to 63 letters, digits, _ or -')
  }
  const bounds = {
    points: [points, 1_000_000_000],
    windowSeconds: [windowSeconds, options.store && !options.localPoints ? 2_592_000 : LONGEST_TIMER_SECONDS],
    storeTimeoutMs: [storeTimeoutMs, 60_000],
    localPoints: [localPoints, 1_000_000_000],
  } as const
  for (const [option, [value, most]] of Object.entries(bounds))
    integerOption(`limit ${name}: ${option}`, value, 1, most)
  if (!BUCKETS.includes(per)) {
    throw new TypeError(
      `limit ${name}: per must be key, session, account or address, not ${JSON.stringify(per)}`,
    )
  }
  return options
}
