import { checkOptions, integerOption } from '@gatewright/kernel/internal'
import { LIMIT_BOUNDS, type LimiterStore } from './options.ts'

/** Options of the budget of failed credentials per client address. */
export interface FailureOptions {
  /** Failures per window and address (IPv4, or IPv6 /64), 1 to 1 000 000 000, default 60. */
  readonly points?: number
  /** Length of the window in seconds, 1 to 2 592 000 (30 days), default 60. */
  readonly windowSeconds?: number
  /**
   * A store in which several processes count failures together. Each process also counts its own failures, and while the store
   * is down only those.
   */
  readonly store?: LimiterStore
  /** How many credentials of all addresses with a used-up budget may wait for their check, 1 to 65 536, default 1024. */
  readonly waiting?: number
  /** How many of a single such address may wait, 1 to `waiting`. Default 256, or `waiting` if that is less. */
  readonly waitingPerAddress?: number
}

/** The options with their defaults. */
export type CheckedFailureOptions = Required<Omit<FailureOptions, 'store'>> & Pick<FailureOptions, 'store'>

/** Checks the options and fills in defaults. Throws a `TypeError` that names the option and the bound. */
export function checkedFailureOptions(
  where: string,
  given: FailureOptions | 'off' = {},
): CheckedFailureOptions | 'off' {
  if (given === 'off') return given
  const options = checkOptions(where, given, {
    points: { ...LIMIT_BOUNDS.points, default: 60 },
    windowSeconds: { ...LIMIT_BOUNDS.windowSeconds, default: 60 },
    store: { is: 'function', default: undefined },
    waiting: { min: 1, max: 65_536, default: 1024 },
    waitingPerAddress: true,
  })
  const { waiting, waitingPerAddress = Math.min(256, waiting) } = options
  integerOption(`${where}: waitingPerAddress`, waitingPerAddress, 1, waiting)
  return { ...options, waitingPerAddress }
}
