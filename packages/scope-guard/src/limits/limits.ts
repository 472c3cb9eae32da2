import { Fault, keyDigest, type Session } from '@gatewright/kernel'
import { addressBucket } from '../address.ts'
import type { Rule } from '../rule.ts'
import { policyItem, type LimitState } from './fields.ts'
import { createLimiter, type Limiter, type Taken } from './limiter.ts'
import type { LimitOptions } from './options.ts'

/** What the limits of a rule say to one request. */
export interface LimitsTaken {
  /** The limit that refuses, the one with the longest wait where several do. */
  readonly refused: LimitState | undefined
  readonly states: readonly LimitState[]
}

/** The limits that bind one rule, in the order they were configured. */
export interface RuleLimits {
  /** The `RateLimit-Policy` value, empty when no limit applies. */
  readonly policy: string
  /**
   * Takes one point from every bucket at once: with a shared store, one round trip. When one refuses, the others
   * give theirs back, best effort. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  take(session: Session, address: string | undefined): Promise<LimitsTaken>
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

/** A store that is down may be replaced by this process's memory, except where money moves. */
async function takeOne(limiter: Limiter, bucket: string, rule: Rule): Promise<Taken> {
  try {
    return await limiter.take(bucket)
  } catch (error) {
    if (!(error instanceof Fault) || rule.spends !== undefined || !limiter.takeLocally) throw error
    return limiter.takeLocally(bucket)
  }
}

/**
 * Takes from several limits at once and, unless all grant, gives back. A limit that alone refuses keeps its
 * point: it is used up either way. Where several refuse at once, each must give back what the other refused.
 */
async function takeAll(takes: readonly Promise<Taken>[]): Promise<LimitsTaken> {
  const settled = await Promise.allSettled(takes)
  const taken = settled.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
  const refused = taken.filter(({ over }) => over).map(({ state }) => state)
  const failed = settled.find(result => result.status === 'rejected')
  if (refused.length > 0 || failed) {
    const back = refused.length > 1 ? taken : taken.filter(({ over }) => !over)
    await Promise.all(back.map(each => each.giveBack()))
  }
  const states = taken.map(({ state }) => state)
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
    const policy = bound.map(({ options: o }) => policyItem(o.name, o.points, o.windowSeconds)).join(', ')
    return {
      policy,
      async take(session, address) {
        const takes: Promise<Taken>[] = []
        for (const limiter of bound) {
          const bucket = bucketOf(limiter.options.per, session, address)
          if (bucket !== undefined) takes.push(takeOne(limiter, bucket, rule))
        }
        if (takes.length === 0) return { refused: undefined, states: [] }
        if (takes.length > 1) return takeAll(takes)
        const { over, state } = await (takes[0] as Promise<Taken>)
        return { refused: over ? state : undefined, states: [state] }
      },
    }
  }
}
