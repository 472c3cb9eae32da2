import {
  type Clock,
  createFairQueue,
  Fault,
  integerOption,
  knownOptions,
  REFUSED,
  runQueued,
  systemClock,
} from '@gatewright/kernel'
import { rateLimited } from '../access.ts'
import { addressBucket } from '@gatewright/kernel/address'
import type { GuardDenial } from '../codes.ts'
import { createFailureBudget, FAILURE_OPTIONS, type FailureOptions } from './failures.ts'

/**
 * What failed credentials of one client address may cost. Checks of credentials that are not known yet run by address
 * in turn. Those of an address whose budget of failures is used up run few at a time, in a lane of bounded length
 * beside the others. So a good credential waits at most for its turn, and a known one need not ask at all.
 */
export interface FailureLimit {
  /**
   * Runs `check`, the costly step that tells whether a credential is good, when it is the address' turn: without a
   * bound while the budget has failures left; else in the low-priority lane. Denial: `rate_limited`, `check` not
   * run, when that lane is full. Without an address it runs at once. Throws what `check` throws.
   */
  admit<T>(address: string | undefined, check: () => Promise<T>): Promise<T | GuardDenial>
  /** Counts a failure of the address, also one that was found before `admit`. Success costs nothing. */
  charge(address: string | undefined): Promise<void>
}

/**
 * Checks under way at once, and so in one turn of the event loop, since they end between turns. Those of addresses that
 * have failures left keep the four threads of Node's pool busy; in the lane, a long turn in a busy process makes few.
 */
const AT_ONCE = 32
const AT_ONCE_IN_LANE = 8
/** What waits in the lane is checked within a fraction of a second. */
const RETRY_AFTER_SECONDS = 1
const DEMOTED: unique symbol = Symbol('demoted')

/**
 * Makes the limit; `name` is what denials call it. `off` admits everything at once. Throws a `TypeError` for a wrong
 * option.
 */
export function createFailureLimit(
  name: string,
  options: FailureOptions | 'off',
  clock: Clock = systemClock,
): FailureLimit {
  if (options === 'off') return { admit: (_, check) => check(), charge: async () => {} }
  knownOptions('createFailureLimit', options, FAILURE_OPTIONS)
  const budget = createFailureBudget(name, options, clock)
  const waiting = integerOption('failedCredentials.waiting', options.waiting ?? 1024, 1, 65_536)
  const perAddress = options.waitingPerAddress ?? Math.min(256, waiting)
  const waitingPerClass = integerOption('failedCredentials.waitingPerAddress', perAddress, 1, waiting)
  const unbounded = { waiting: Infinity, waitingPerClass: Infinity }
  const normal = createFairQueue({ atOnce: AT_ONCE, turnMs: Infinity, ...unbounded })
  const lane = createFairQueue({ atOnce: AT_ONCE_IN_LANE, turnMs: 1, waiting, waitingPerClass })

  const inLane = async <T>(bucket: string, check: () => Promise<T>): Promise<T | GuardDenial> => {
    const ran = await queued(bucket, check)
    return ran === REFUSED ? rateLimited({ name, remaining: 0, resetSeconds: RETRY_AFTER_SECONDS }, []) : ran
  }
  /** Full of other addresses or of its own: the caller has to come again either way. */
  const queued = <T>(bucket: string, check: () => Promise<T>): ReturnType<typeof runQueued<undefined, T>> => {
    try {
      return runQueued(lane, bucket, check, undefined)
    } catch (error) {
      // Thrown at once and not by `check`, which answers by promise.
      if (error instanceof Fault && error.code === 'ERR_OVERLOADED') return REFUSED
      throw error
    }
  }
  return {
    async admit<T>(address: string | undefined, check: () => Promise<T>): Promise<T | GuardDenial> {
      if (address === undefined) return check()
      const bucket = addressBucket(address)
      if (budget.isUsedUp(bucket)) return inLane(bucket, check)
      // Others of a burst may have used up the budget by the time it is this one's turn.
      const job = async (): Promise<T | typeof DEMOTED> => (budget.isUsedUp(bucket) ? DEMOTED : check())
      const ran = await runQueued(normal, bucket, job, undefined)
      return ran === DEMOTED || ran === REFUSED ? inLane(bucket, check) : ran
    },
    async charge(address) {
      if (address !== undefined) await budget.charge(addressBucket(address))
    },
  }
}
