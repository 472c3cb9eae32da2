import { Fault, type Session } from '@gatewright/kernel'
import { RateLimiterMemory, type RateLimiterAbstract, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Rule } from '../rule.ts'
import { policyItem, type LimitState } from './fields.ts'

/** One rate limit: so many requests per window and bucket. Windows are fixed and start with a bucket's first request. */
export interface LimitOptions {
  /** Its name in header fields, evidence and store keys: letters, digits, `_`, `-`. */
  readonly name: string
  /** Requests per window. Across a window's edge up to twice as many can pass in one window's length. */
  readonly points: number
  readonly windowSeconds: number
  /** Whose bucket a request fills. */
  readonly per: 'key' | 'session' | 'account'
  /** The classes of operations it binds (`Rule.limit`). Absent: every guarded request. */
  readonly classes?: readonly string[]
}

/** A limit with its limiter. */
interface Limit {
  readonly options: LimitOptions
  readonly limiter: RateLimiterAbstract
}

/** The limits that bind one rule, in the order they were configured. */
export interface RuleLimits {
  /** The `RateLimit-Policy` value, empty when no limit applies. */
  readonly policy: string
  /** Takes one request from every bucket. The first state is of the limit that refuses, when one does. */
  take(session: Session): Promise<{ refused: LimitState | undefined; states: LimitState[] }>
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

function checked(options: LimitOptions): LimitOptions {
  const { name, points, windowSeconds } = options
  if (!NAME.test(name)) throw new TypeError('a limit name must be 1 to 64 letters, digits, _ or -')
  for (const [option, value] of Object.entries({ points, windowSeconds })) {
    if (!Number.isSafeInteger(value) || value < 1 || value > 1_000_000_000) {
      throw new TypeError(
        `limit ${name}: ${option} must be an integer of 1 to 1000000000, not ${String(value)}`,
      )
    }
  }
  return options
}

function bucket(per: LimitOptions['per'], session: Session): string {
  if (per === 'key') return session.keyId
  return per === 'session' ? session.sessionId : session.accountId
}

/** Reads a limiter's result. A result without numbers would otherwise compare as "not over" and let all pass. */
function stateOf(name: string, result: RateLimiterRes): LimitState {
  const { remainingPoints, msBeforeNext } = result
  if (!Number.isFinite(remainingPoints) || !Number.isFinite(msBeforeNext)) {
    throw new Fault('ERR_STORE_REPLY', `the rate limit ${name} sent a malformed reply`)
  }
  return { name, remaining: remainingPoints, resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) }
}

const isResult = (error: unknown): error is RateLimiterRes =>
  typeof error === 'object' && error !== null && 'msBeforeNext' in error

async function takeOne(limit: Limit, session: Session): Promise<{ over: boolean; state: LimitState }> {
  const { name, per } = limit.options
  try {
    return { over: false, state: stateOf(name, await limit.limiter.consume(bucket(per, session))) }
  } catch (error) {
    if (error instanceof Fault) throw error
    if (isResult(error)) return { over: true, state: stateOf(name, error) }
    throw new Fault('ERR_STORE_UNAVAILABLE', `the rate limit ${name} cannot be counted`, { cause: error })
  }
}

/** Builds the limits once and binds them to rules. Throws a `TypeError` for a wrong or repeated limit. */
export function createLimits(options: readonly LimitOptions[]): (rule: Rule) => RuleLimits {
  const names = new Set(options.map(({ name }) => name))
  if (names.size !== options.length) throw new TypeError('limits must have different names')
  const limits: Limit[] = options.map(entry => {
    const { name, points, windowSeconds } = checked(entry)
    return {
      options: entry,
      limiter: new RateLimiterMemory({ keyPrefix: name, points, duration: windowSeconds }),
    }
  })
  return rule => {
    const bound = limits.filter(
      ({ options: { classes } }) => !classes || (rule.limit !== undefined && classes.includes(rule.limit)),
    )
    const policy = bound.map(({ options: o }) => policyItem(o.name, o.points, o.windowSeconds)).join(', ')
    return {
      policy,
      async take(session) {
        const taken = await Promise.all(bound.map(limit => takeOne(limit, session)))
        return { refused: taken.find(({ over }) => over)?.state, states: taken.map(({ state }) => state) }
      },
    }
  }
}
