import { keyDigest, type Rule, type Session, type HeaderField } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import { policyField, type LimitState } from './header-fields.ts'
import { createLimiter, takeWithFallback, type LimitResult, type Limiter } from './limiter.ts'
import type { LimitOptions } from './options.ts'

interface LimitsResult {
  /** The limit that is used up; if several are, the one with the longest wait. */
  readonly usedUp: LimitState | undefined
  readonly states: readonly LimitState[]
}

/** The limits that apply to one rule, in the order they were configured. */
export interface RuleLimits {
  /** The `RateLimit-Policy` field. */
  readonly policy: HeaderField
  /**
   * Takes one point from every limit at the same time; on a shared store that is one round trip. If a limit is used up,
   * the points of the others are given back, best effort. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  take(session: Session, address: string | undefined): Promise<LimitsResult>
}

/** One point to take: the limit and its bucket. */
interface PointRequest {
  readonly limiter: Limiter
  readonly bucket: string
}

const NO_LIMITS: LimitsResult = { usedUp: undefined, states: [] }

/** Makes the limits once, and selects those of a rule. Throws a `TypeError` for a wrong limit or a repeated name. */
export function createLimits(options: readonly LimitOptions[]): (rule: Rule) => RuleLimits {
  if (new Set(options.map(({ name }) => name)).size !== options.length) {
    throw new TypeError('limits must have different names: rename one of the limits that share a name')
  }
  const limiters = options.map(createLimiter)
  return rule => {
    const selected = limiters.filter(
      ({ options: { classes } }) => !classes || (rule.limit !== undefined && classes.includes(rule.limit)),
    )
    return {
      policy: policyField(selected.map(limiter => limiter.options)),
      take: (session, address) => takePoints(pointsOf(selected, session, address), rule),
    }
  }
}

/** Lists the points to take. A limit per address takes none if there is no address. */
function pointsOf(
  limiters: readonly Limiter[],
  session: Session,
  address: string | undefined,
): PointRequest[] {
  const points: PointRequest[] = []
  for (const limiter of limiters) {
    const bucket = bucketOf(limiter.options.per, session, address)
    if (bucket !== undefined) points.push({ limiter, bucket })
  }
  return points
}

function bucketOf(
  per: LimitOptions['per'],
  session: Session,
  address: string | undefined,
): string | undefined {
  if (per === 'key') return bucketName(session.keyId)
  if (per === 'session') return bucketName(session.sessionId)
  if (per === 'account') return bucketName(session.accountId)
  return address === undefined ? undefined : addressBucket(address)
}

/** Stores limit the length of a key (Postgres: 255), and ids of other issuers may be longer. */
const bucketName = (id: string): string => (id.length <= 64 ? id : keyDigest(id))

async function takePoints(points: readonly PointRequest[], rule: Rule): Promise<LimitsResult> {
  const [point] = points
  if (point === undefined) return NO_LIMITS
  if (points.length > 1) return takeAll(points, rule)
  const { state, isOver } = await takeOne(point, rule)
  return { usedUp: isOver ? state : undefined, states: [state] }
}

/** Takes from several limits at the same time. Unless all of them grant a point, gives the points back. */
async function takeAll(points: readonly PointRequest[], rule: Rule): Promise<LimitsResult> {
  const requestedAt = performance.now()
  const settled = await Promise.allSettled(points.map(point => takeOne(point, rule)))
  const results = settled.map(result => (result.status === 'fulfilled' ? result.value : undefined))
  const states = results.flatMap(result => (result ? [result.state] : []))
  const usedUp = results.flatMap(result => (result?.isOver ? [result.state] : []))
  const failed = settled.find(result => result.status === 'rejected')
  if (usedUp.length > 0 || failed) await giveBack(points, results, requestedAt)
  if (usedUp.length > 0) {
    return { usedUp: usedUp.reduce((a, b) => (b.resetSeconds > a.resetSeconds ? b : a)), states }
  }
  if (failed) throw failed.reason
  return { usedUp: undefined, states }
}

/** This process's memory may replace a store that is down, except for operations that move money. */
function takeOne({ limiter, bucket }: PointRequest, rule: Rule): Promise<LimitResult> {
  return limiter.local && rule.spends === undefined ? takeWithFallback(limiter, bucket) : limiter.take(bucket)
}

/**
 * Gives back the points of a refused request. If a single limit is used up, it keeps the point that it counted, since it
 * is used up either way. If several limits are, each of them gives the point back.
 */
async function giveBack(
  points: readonly PointRequest[],
  results: readonly (LimitResult | undefined)[],
  requestedAt: number,
): Promise<void> {
  const usedUp = results.filter(result => result?.isOver).length
  await Promise.all(
    points.map(async ({ bucket }, index) => {
      const result = results[index]
      if (!result || (result.isOver && usedUp === 1)) return
      await result.countedBy.giveBack(bucket, result, requestedAt)
    }),
  )
}
