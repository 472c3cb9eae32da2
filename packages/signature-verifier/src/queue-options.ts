import { createFairQueue, integerOption, type FairQueue } from '@gatewright/kernel/internal'

/**
 * Bounds on checks in one process. Beyond them the address bucket with the most waiting checks gets `rate_limited`; see
 * `ProofContext`.
 */
export interface QueueLimits {
  /**
   * Maximum number of simultaneous checks, 1 to 1024, default 1 for recoveries, because more has no benefit unless `recover` runs in another
   * thread, and 16 for contract wallets.
   */
  readonly atOnce?: number
  /** Checks that may wait, 1 to 65 536, default 64: for recoveries about 0.2 s of pure JS at most. */
  readonly waiting?: number
  /** Checks of one address bucket that may wait, 1 to `waiting`. Default 8. */
  readonly waitingPerClass?: number
}

interface Bound {
  readonly min: number
  readonly max: number
  readonly default: number
}

/** What the bounds must be. The default of `waitingPerClass` follows `waiting`. */
export const queueLimits = (
  atOnce: number,
): { readonly atOnce: Bound; readonly waiting: Bound; readonly waitingPerClass: true } => ({
  atOnce: { min: 1, max: 1024, default: atOnce },
  waiting: { min: 1, max: 65_536, default: 64 },
  waitingPerClass: true,
})

/** Creates the queue of checks that the options of `where` describe. Throws a `TypeError` for a limit out of bounds. */
export function createCheckQueue(
  where: string,
  limits: QueueLimits & { readonly atOnce: number; readonly waiting: number },
  turnMs: number,
): FairQueue {
  const { atOnce, waiting, waitingPerClass = Math.min(8, waiting) } = limits
  integerOption(`${where}: waitingPerClass`, waitingPerClass, 1, waiting)
  return createFairQueue({ atOnce, waiting, waitingPerClass, turnMs })
}
