import { keyDigest, type Rule, type Session, type Clock, type HeaderField } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import { andThen } from '../and-then.ts'
import { policyField, type LimitState } from './header-fields.ts'
import { createLimiter, takeWithFallback, type LimitResult, type Limiter } from './limiter.ts'
import type { CheckedLimit } from './options.ts'

interface LimitsResult {
  /** The limit that denies the request, if any; of several, the one with the longest wait. */
  readonly usedUp: LimitState | undefined
  /** The states of the limits whose stores replied, for the `RateLimit` field. */
  readonly states: readonly LimitState[]
}

/** The limits that apply to one rule, in the order they were configured. */
export interface RuleLimits {
  /** The `RateLimit-Policy` field. */
  readonly policy: HeaderField
  /**
   * Takes one point from every limit. The limits are queried in parallel, so a shared store costs the time of one round trip.
   * If a limit is used up, the points of the other limits are returned; an error while they are returned is ignored.
   * Simultaneous requests never pass more often than each limit has points. Fewer can pass, because a denied request keeps the
   * points of the other limits until it has returned them. Returns no promise if no limit applies, and for a single one that this process
   * counts. Faults, rejected:
   * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  take(session: Session, address: string | undefined): LimitsResult | Promise<LimitsResult>
}

/** One point to take from one bucket of a limit. */
interface PointRequest {
  readonly limiter: Limiter
  readonly bucket: string
}

const NO_LIMITS: LimitsResult = { usedUp: undefined, states: [] }

/**
 * Makes all limits at start-up and returns a function that selects the limits of a rule. Throws a `TypeError` for an invalid
 * limit, and for two limits with the same name.
 */
export function createLimits(options: readonly CheckedLimit[], clock: Clock): (rule: Rule) => RuleLimits {
  if (new Set(options.map(({ name }) => name)).size !== options.length) {
    throw new TypeError('limits must have different names: rename one of the limits that share a name')
  }
  const limiters = options.map(limit => createLimiter(limit, clock))
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

/** Lists the points to take. A limit per address is skipped if the request has no address. */
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
  per: CheckedLimit['per'],
  session: Session,
  address: string | undefined,
): string | undefined {
  if (per === 'key') return bucketName(session.keyId)
  if (per === 'session') return bucketName(session.sessionId)
  if (per === 'account') return bucketName(session.accountId)
  return address === undefined ? undefined : addressBucket(address)
}

/** Long ids are replaced by a digest: stores limit the length of a key (Postgres: 255), and other issuers may use longer ids. */
const bucketName = (id: string): string => (id.length <= 64 ? id : keyDigest(id))

function takePoints(points: readonly PointRequest[], rule: Rule): LimitsResult | Promise<LimitsResult> {
  const [point] = points
  if (point === undefined) return NO_LIMITS
  return points.length > 1 ? takeAll(points, rule) : andThen(takeOne(point, rule), resultOfOne)
}

const resultOfOne = ({ state, isOver }: LimitResult): LimitsResult => ({
  usedUp: isOver ? state : undefined,
  states: [state],
})

/** Takes a point from several limits in parallel. If one of them denies or fails, returns the points of the others. */
async function takeAll(points: readonly PointRequest[], rule: Rule): Promise<LimitsResult> {
  const requestedAt = performance.now()
  const settled = await Promise.allSettled(points.map(async point => takeOne(point, rule)))
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

/**
 * Takes one point. While the store is down, a limit with `localPoints` counts in this process, for a rule that spends only with
 * `localSpends`.
 */
function takeOne({ limiter, bucket }: PointRequest, rule: Rule): LimitResult | Promise<LimitResult> {
  const mayCountHere = rule.spends === undefined || limiter.options.localSpends
  return mayCountHere ? takeWithFallback(limiter, bucket) : limiter.take(bucket)
}

/**
 * Returns the points of a denied request. If exactly one limit denied, its point is not returned, which saves a second write
 * for each denied request of a flood. If several limits denied, their points are returned too.
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
      await result.countedBy.giveBack(result, bucket, requestedAt)
    }),
  )
}
