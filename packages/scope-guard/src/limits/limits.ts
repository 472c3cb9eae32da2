import { keyDigest, type Rule, type Session, type HeaderField } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import { policyField, type LimitState } from './fields.ts'
import { createLimiter, takeWithFallback, type LimitAnswer, type Limiter } from './limiter.ts'
import type { LimitOptions } from './options.ts'

/** What the limits of a rule answer to one request. */
export interface LimitsAnswer {
  /** The limit that refuses, the one with the longest wait where several do. */
  readonly usedUp: LimitState | undefined
  readonly states: readonly LimitState[]
}

/** The limits that bind one rule, in the order they were configured. */
export interface RuleLimits {
  /** The `RateLimit-Policy` field. */
  readonly policy: HeaderField
  /**
   * Takes one point from every bucket at once: with a shared store, one round trip. When one refuses, the others
   * give theirs back, best effort. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  take(session: Session, address: string | undefined): Promise<LimitsAnswer>
}

/** One point to take: from which bucket of which limit. */
interface Claim {
  readonly limiter: Limiter
  readonly bucket: string
}

const NOTHING_TAKEN: LimitsAnswer = { usedUp: undefined, states: [] }

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
    return {
      policy: policyField(bound.map(limiter => limiter.options)),
      take: (session, address) => takeFrom(claimsOf(bound, session, address), rule),
    }
  }
}

/** The points that limits take; none for a limit by address where there is no address. */
function claimsOf(limiters: readonly Limiter[], session: Session, address: string | undefined): Claim[] {
  const claims: Claim[] = []
  for (const limiter of limiters) {
    const bucket = bucketOf(limiter.options.per, session, address)
    if (bucket !== undefined) claims.push({ limiter, bucket })
  }
  return claims
}

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

/** Stores bound the length of a key (Postgres: 255); ids of other issuers may be longer. */
const short = (id: string): string => (id.length <= 64 ? id : keyDigest(id))

async function takeFrom(claims: readonly Claim[], rule: Rule): Promise<LimitsAnswer> {
  const [claim] = claims
  if (claim === undefined) return NOTHING_TAKEN
  if (claims.length > 1) return takeAll(claims, rule)
  const { state, isOver } = await takeOne(claim, rule)
  return { usedUp: isOver ? state : undefined, states: [state] }
}

/** Takes from several limits at once and, unless all grant, gives back. */
async function takeAll(claims: readonly Claim[], rule: Rule): Promise<LimitsAnswer> {
  const askedAt = performance.now()
  const settled = await Promise.allSettled(claims.map(claim => takeOne(claim, rule)))
  const answers = settled.map(result => (result.status === 'fulfilled' ? result.value : undefined))
  const states = answers.flatMap(answer => (answer ? [answer.state] : []))
  const usedUp = answers.flatMap(answer => (answer?.isOver ? [answer.state] : []))
  const failed = settled.find(result => result.status === 'rejected')
  if (usedUp.length > 0 || failed) await giveBack(claims, answers, askedAt)
  if (usedUp.length > 0) {
    return { usedUp: usedUp.reduce((a, b) => (b.resetSeconds > a.resetSeconds ? b : a)), states }
  }
  if (failed) throw failed.reason
  return { usedUp: undefined, states }
}

/** A store that is down may be replaced by this process's memory, except where money moves. */
function takeOne({ limiter, bucket }: Claim, rule: Rule): Promise<LimitAnswer> {
  return limiter.local && rule.spends === undefined ? takeWithFallback(limiter, bucket) : limiter.take(bucket)
}

/**
 * Gives back what a refused request took. A limit that alone refuses keeps its point: it is used up either way. Where
 * several refuse at once, each must give back what the other refused.
 */
async function giveBack(
  claims: readonly Claim[],
  answers: readonly (LimitAnswer | undefined)[],
  askedAt: number,
): Promise<void> {
  const refusals = answers.filter(answer => answer?.isOver).length
  await Promise.all(
    claims.map(async ({ bucket }, index) => {
      const answer = answers[index]
      if (answer && !(answer.isOver && refusals === 1)) await answer.by.giveBack(bucket, answer, askedAt)
    }),
  )
}
