import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import type { RateLimiterAbstract } from 'rate-limiter-flexible'

/**
 * Makes a limiter on a shared store. Pass the settings on to a rate-limiter-flexible class, with your own client:
 * `settings => new RateLimiterRedis({ ...settings, storeClient: client, useRedisPackage: true })`.
 */
export type LimiterStore = (settings: {
  readonly keyPrefix: string
  readonly points: number
  readonly duration: number
}) => RateLimiterAbstract

/**
 * One rate limit: at most `points` requests per window and bucket. Windows are fixed and begin with the bucket's first
 * request. No window lets more than `points` requests pass; a period as long as a window, which may overlap two windows,
 * lets at most twice as many pass.
 */
export interface LimitOptions {
  /** Name in header fields, evidence and store keys: a letter, then letters, digits, `_`, `-`. */
  readonly name: string
  /** Requests per window, 1 to 1 000 000 000. */
  readonly points: number
  /** Length of the window, 1 to 2 592 000 (30 days). */
  readonly windowSeconds: number
  /**
   * Which bucket a request counts in. `address`: the client's IPv4 address or IPv6 /64; a request without an address is not
   * limited.
   */
  readonly per: 'key' | 'session' | 'account' | 'address'
  /** The classes of operations that it limits (`Rule.limit`). Absent: every guarded request. */
  readonly classes?: readonly string[]
  /** Where it counts requests. Default: this process's memory. */
  readonly store?: LimiterStore
  /** How long a call to the store may take, 1 to 60 000 ms, default 2000: also that of a pool that still connects. A slower store counts as down. */
  readonly storeTimeoutMs?: number
  /**
   * How many requests per window and bucket this process lets pass while the store is down, on operations that spend
   * nothing. If absent, the response is a 503.
   */
  readonly localPoints?: number
  /**
   * Whether `localPoints` apply to operations that spend too, which otherwise get a 503. Default false. Set it only where spend caps
   * are in another store, because then the limits of all processes together are looser but no money leaves above a cap.
   */
  readonly localSpends?: boolean
}

/** The options of a limit that no guard applies. */
export type RateLimitOptions = Omit<LimitOptions, 'per' | 'classes' | 'localSpends'>

/** A limit with its defaults. */
export type CheckedLimit = LimitOptions & Required<Pick<LimitOptions, 'storeTimeoutMs' | 'localSpends'>>

/** The bounds of a limit. */
export const LIMIT_BOUNDS = {
  points: { min: 1, max: 1_000_000_000 },
  windowSeconds: { min: 1, max: 2_592_000 },
} as const

const RATE_LIMIT = {
  name: true,
  ...LIMIT_BOUNDS,
  store: { is: 'function', default: undefined },
  storeTimeoutMs: { min: 1, max: 60_000, default: 2000 },
  localPoints: { ...LIMIT_BOUNDS.points, default: undefined },
} as const satisfies OptionTable<RateLimitOptions>

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** Checks a limit of a guard. Throws a `TypeError` that names the option and the bound. */
export function checkedLimit(where: string, options: LimitOptions): CheckedLimit {
  const per = { is: ['key', 'session', 'account', 'address'] } as const
  const limit = checkOptions(where, options, {
    ...RATE_LIMIT,
    per,
    classes: true,
    localSpends: { default: false },
  })
  return assertName(where, limit)
}

/** Checks a limit that no guard applies. Throws a `TypeError` that names the option and the bound. */
export function checkedRateLimit(where: string, options: RateLimitOptions): CheckedLimit {
  return assertName(where, {
    ...checkOptions(where, options, RATE_LIMIT),
    per: 'key',
    localSpends: false,
  })
}

function assertName(where: string, limit: CheckedLimit): CheckedLimit {
  const { name } = limit
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new TypeError(
      `${where}: name must be a letter and up to 63 letters, digits, _ or -, got ${JSON.stringify(name)}`,
    )
  }
  return limit
}
