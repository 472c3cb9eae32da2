import { keyDigest, type Session } from '@gatewright/kernel'
import { addressBucket } from '../address.ts'
import type { HeaderFields } from '../codes.ts'
import type { Rule } from '../rule.ts'
import { policyField } from './fields.ts'
import { asItIs, createLimiter, takeAnyhow, type Limiter, type LimitsTaken, type Taken } from './limiter.ts'
import type { LimitOptions } from './options.ts'

/** Whose points are taken. */
export interface Asking {
  readonly proven: { readonly session: Session }
  readonly address: string | undefined
}

/** The limits that bind one rule, in the order they were configured. */
export interface RuleLimits {
  /** The `RateLimit-Policy` field. */
  readonly policy: HeaderFields[number]
  /**
   * Takes one point from every bucket at once: with a shared store, one round trip. When one refuses, the others
   * give theirs back, best effort. Then goes on with `use`: at once where one limit counts in memory. Undefined:
   * nothing to take, and `use` was not called.
   * Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  take<Q extends Asking, T extends object>(
    asked: Q,
    use: (asked: Q, taken: LimitsTaken) => T | Promise<T>,
  ): T | Promise<T> | undefined
}

/** One point to take: from which bucket of which limit. */
interface Claim {
  readonly limiter: Limiter
  readonly bucket: string
}

/** Stores bound the length of a key (Postgres: 255); ids of other issuers may be longer. */
const short = (id: string): string => (id.length <= 64 ? id : keyDigest(id))

function bucketOf(
  per: LimitOptions['per'],
  session: Session,
  address: string | undefined,
): string | undefined {
  if (per === 'key') return short(session.keyId)
  if (per === 'session') return short(session.sessionId)
  if (per === 'account') return short(session.accountId)
  return address === undefined ? undefined : addressBucket(address)
}

/** The point that a limit takes; undefined for a limit by address where there is none. */
function claimOf(limiter: Limiter, { proven, address }: Asking): Claim | undefined {
  const bucket = bucketOf(limiter.options.per, proven.session, address)
  return bucket === undefined ? undefined : { limiter, bucket }
}

/** A store that is down may be replaced by this process's memory, except where money moves. */
function takeOne<Q, T>(
  { limiter, bucket }: Claim,
  rule: Rule,
  asked: Q,
  use: (asked: Q, taken: Taken) => T | Promise<T>,
): T | Promise<T> {
  if (!limiter.local || rule.spends !== undefined) return limiter.take(bucket, asked, use)
  return takeAnyhow(limiter, bucket).then(({ taken }) => use(asked, taken))
}

/**
 * Takes from several limits at once and, unless all grant, gives back. A limit that alone refuses keeps its
 * point: it is used up either way. Where several refuse at once, each must give back what the other refused.
 */
async function takeAll(claims: readonly Claim[], rule: Rule): Promise<LimitsTaken> {
  const askedAt = performance.now()
  const settled = await Promise.allSettled(claims.map(async claim => takeOne(claim, rule, undefined, asItIs)))
  const taken = settled.map(result => (result.status === 'fulfilled' ? result.value : undefined))
  const refused = taken.flatMap(one => (one?.refused ? [one.state] : []))
  const failed = settled.find(result => result.status === 'rejected')
  if (refused.length > 0 || failed) {
    const keep = (one: Taken): boolean => one.refused !== undefined && refused.length === 1
    await Promise.all(
      claims.map(async ({ limiter, bucket }, index) => {
        const one = taken[index]
        if (one && !keep(one)) await limiter.giveBack(bucket, one, askedAt)
      }),
    )
  }
  const states = taken.flatMap(one => (one ? [one.state] : []))
  if (refused.length > 0) {
    return { refused: refused.reduce((a, b) => (b.resetSeconds > a.resetSeconds ? b : a)), states }
  }
  if (failed) throw failed.reason
  return { refused: undefined, states }
}

/** Builds the limits once and binds them to rules. Throws a `TypeError` for a wrong or repeated limit. */
export function createLimits(options: readonly LimitOptions[]): (rule: Rule) => RuleLimits {
  if (new Set(options.map(({ name }) => name)).size !== options.length) {
    throw new TypeError('limits must have different names')
  }
  const limiters = options.map(createLimiter)
  return rule => {
    const bound = limiters.filter(
      ({ options: { classes } }) => !classes || (rule.limit !== undefined && classes.includes(rule.limit)),
    )
    const policy = policyField(bound.map(limiter => limiter.options))
    return {
      policy,
      take(asked, use) {
        const [first] = bound
        if (first === undefined) return undefined
        if (bound.length === 1) {
          const claim = claimOf(first, asked)
          return claim && takeOne(claim, rule, asked, use)
        }
        const claims = bound.flatMap(limiter => claimOf(limiter, asked) ?? [])
        if (claims.length === 0) return undefined
        return takeAll(claims, rule).then(taken => use(asked, taken))
      },
    }
  }
}
