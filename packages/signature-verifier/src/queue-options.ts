import { createFairQueue, type FairQueue, integerOption } from '@gatewright/kernel'

/** The bounds of a fair queue as options have them. */
export interface QueueLimits {
  readonly atOnce: number
  readonly waiting?: number | undefined
  readonly waitingPerClass?: number | undefined
}

/** Makes a fair queue from the option `name`: by default 64 jobs may wait, 8 of one class. Throws a `TypeError`. */
export function checkedQueue(name: string, limits: QueueLimits, turnMs: number): FairQueue {
  const waiting = integerOption(`${name}.waiting`, limits.waiting ?? 64, 1, 65_536)
  const perClass = limits.waitingPerClass ?? Math.min(8, waiting)
  return createFairQueue({
    atOnce: integerOption(`${name}.atOnce`, limits.atOnce, 1, 1024),
    waiting,
    waitingPerClass: integerOption(`${name}.waitingPerClass`, perClass, 1, waiting),
    turnMs,
  })
}
