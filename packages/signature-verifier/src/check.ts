import { createFairQueue, type FairQueue } from '@gatewright/kernel'

/** Checks an integer option. Throws a `TypeError` that names the option, its bounds and what came. */
export function checkedInteger(name: string, value: unknown, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
    const got = typeof value === 'number' ? value : typeof value
    throw new TypeError(`${name} must be an integer of ${least} to ${most}, not ${got}`)
  }
  return value as number
}

/** The bounds of a fair queue as options have them. */
export interface QueueLimits {
  readonly atOnce: number
  readonly waiting?: number | undefined
  readonly waitingPerClass?: number | undefined
}

/** Makes a fair queue from the option `name`: by default 64 jobs may wait, 8 of one class. Throws a `TypeError`. */
export function checkedQueue(name: string, limits: QueueLimits, turnMs: number): FairQueue {
  const waiting = checkedInteger(`${name}.waiting`, limits.waiting ?? 64, 1, 65_536)
  const perClass = limits.waitingPerClass ?? Math.min(8, waiting)
  return createFairQueue({
    atOnce: checkedInteger(`${name}.atOnce`, limits.atOnce, 1, 1024),
    waiting,
    waitingPerClass: checkedInteger(`${name}.waitingPerClass`, perClass, 1, waiting),
    turnMs,
  })
}
