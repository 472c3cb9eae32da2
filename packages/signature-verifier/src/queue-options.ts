import { createFairQueue, type FairQueue, integerOption, type OptionTable } from '@gatewright/kernel'

/**
 * Bounds on checks in one process. Beyond them the address bucket with the most waiting checks gets `rate_limited`; see
 * `ProofContext`.
 */
export interface QueueLimits {
  /**
   * Maximum number of simultaneous checks, 1 to 1024. Default 1 for recoveries, because more has no benefit unless `recover` runs in another
   * thread, and 16 for contract wallets.
   */
  readonly atOnce?: number
  /** Checks that may wait, 1 to 65 536. Default 64: for recoveries about 0.2 s of pure JS at most. */
  readonly waiting?: number
  /** Checks of one address bucket that may wait, 1 to `waiting`. Default 8. */
  readonly waitingPerClass?: number
}

/** The option names of `QueueLimits`. */
export const QUEUE_LIMITS: OptionTable<QueueLimits> = { atOnce: true, waiting: true, waitingPerClass: true }

/** Creates the queue of checks that the option `name` describes. Throws a `TypeError` for a limit out of bounds. */
export function createCheckQueue(
  name: string,
  limits: QueueLimits,
  defaultAtOnce: number,
  turnMs: number,
): FairQueue {
  const waiting = integerOption(`${name}.waiting`, limits.waiting ?? 64, 1, 65_536)
  const perClass = limits.waitingPerClass ?? Math.min(8, waiting)
  return createFairQueue({
    atOnce: integerOption(`${name}.atOnce`, limits.atOnce ?? defaultAtOnce, 1, 1024),
    waiting,
    waitingPerClass: integerOption(`${name}.waitingPerClass`, perClass, 1, waiting),
    turnMs,
  })
}
