import { saysNothingHappened } from '@gatewright/kernel/internal'

/** How a handler failed that responds through its framework. */
export interface HandlerFailure {
  /** What the handler threw; undefined where the framework does not show it. */
  readonly error?: unknown
  /** The status that the framework sends. */
  readonly status: number
}

/**
 * Checks the option `noEffectStatuses` of a route. Throws a `TypeError` unless it is an array of statuses from 400 to 499: a 5xx says
 * that something broke, never that nothing happened.
 */
export function checkedNoEffectStatuses(
  operation: string,
  statuses: readonly number[] = [],
): ReadonlySet<number> {
  const isClientError = (status: unknown): boolean =>
    Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 499
  if (Array.isArray(statuses) && statuses.every(isClientError)) return new Set(statuses)
  throw new TypeError(
    `${operation}: noEffectStatuses must be an array of statuses from 400 to 499, got ${JSON.stringify(statuses)}`,
  )
}

/**
 * Whether the team has declared that a handler which failed so had no effect: by `nothingHappened(error)`, or by naming the status
 * of the error. If the error has no status, or cannot be seen, the status of the response counts. If it has several, all must be
 * named. Never decided by the class of an error.
 */
export function hadNoEffect(named: ReadonlySet<number>, { error, status }: HandlerFailure): boolean {
  if (saysNothingHappened(error)) return true
  if (named.size === 0) return false
  const own = statusesOf(error)
  return (own.length === 0 ? [status] : own).every(each => named.has(each))
}

/** Returns the statuses that an error says: `status`, `statusCode`, and the result of Nest's `getStatus()`. */
export function statusesOf(error: unknown): readonly number[] {
  if (typeof error !== 'object' || error === null) return []
  try {
    const { status, statusCode, getStatus } = error as Record<string, unknown>
    const got: unknown = typeof getStatus === 'function' ? getStatus.call(error) : undefined
    return [status, statusCode, got].filter(each => typeof each === 'number')
  } catch {
    // A getter of the error threw. No status is one that nobody named.
    return [Number.NaN]
  }
}
