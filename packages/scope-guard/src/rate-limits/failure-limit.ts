import { Fault, type Clock } from '@gatewright/kernel'
import { createFairQueue, QUEUE_FULL, runQueued, systemClock } from '@gatewright/kernel/internal'
import { rateLimited } from '../access.ts'
import { andThen } from '../and-then.ts'
import { addressBucket } from '@gatewright/kernel/address'
import type { GuardDenial } from '../codes.ts'
import { createFailureBudget } from './failure-budget.ts'
import { checkedFailureOptions, type FailureOptions } from './failure-options.ts'

/**
 * Limits the cost of failed credentials per client address. Checks of credentials that are not known yet run in a fair queue,
 * one address after the other. The checks of an address whose budget of failures is used up run in a second, low-priority
 * queue: few at a time and of bounded length. So a valid credential usually only waits longer, and is denied only if the
 * low-priority queue is full. A credential that is known already needs no check here.
 */
export interface FailureLimit {
  /**
   * Runs `check`, the expensive step that verifies a credential, when the queue serves the address. While the budget has
   * failures left, any number of checks may wait; afterwards the check waits in the low-priority queue. Checks without an
   * address share one turn and are never denied. Denial: `rate_limited` if the low-priority queue is full; `check` has not run
   * then. Rejects with what `check` throws.
   */
  runWithinLimit<T>(address: string | undefined, check: () => T | Promise<T>): Promise<T | GuardDenial>
  /** Counts a failure of the address, also a failure that was found before `runWithinLimit`. Successful checks are not counted. */
  charge(address: string | undefined): Promise<void>
}

/** A `FailureLimit` whose `runWithinLimit` returns no promise, and throws, if the check runs now and returns none. */
export interface DirectFailureLimit extends Pick<FailureLimit, 'charge'> {
  runWithinLimit<T>(
    address: string | undefined,
    check: () => T | Promise<T>,
  ): T | GuardDenial | Promise<T | GuardDenial>
}

/**
 * How many checks run at the same time, where they wait for threads or stores: 32 keep the four threads of Node's thread
 * pool busy. The low-priority queue runs fewer, because checks complete between turns of the event loop and a busy process
 * must stay responsive.
 */
const CONCURRENT_CHECKS = 32
const CONCURRENT_LOW_PRIORITY_CHECKS = 8
/**
 * How many ms of checks may start in one turn of the event loop. A check of a signature is synchronous on Node, so more of
 * them would delay everything else of the process (`npm run bench -- flood`).
 */
const TURN_MS = 2
const LOW_PRIORITY_TURN_MS = 1
/** A check in the low-priority queue starts within a fraction of a second. */
const RETRY_AFTER_SECONDS = 1
const DEMOTED: unique symbol = Symbol('demoted')

/**
 * Makes the limit. `name` is its name in denials. `off` runs every check immediately. Throws a `TypeError` for a wrong
 * option.
 */
export function createFailureLimit(name: string, given: FailureOptions | 'off', clock?: Clock): FailureLimit {
  const { runWithinLimit, charge } = createDirectFailureLimit(name, given, clock)
  return { runWithinLimit: async (address, check) => runWithinLimit(address, check), charge }
}

/** Makes the limit for credentials whose check is synchronous. */
export function createDirectFailureLimit(
  name: string,
  given: FailureOptions | 'off',
  clock: Clock = systemClock,
): DirectFailureLimit {
  const options = checkedFailureOptions('createFailureLimit', given)
  if (options === 'off') return { runWithinLimit: (_, check) => check(), charge: async () => {} }
  const { waiting, waitingPerAddress: waitingPerClass } = options
  const budget = createFailureBudget(name, options, clock)
  const unbounded = { waiting: Infinity, waitingPerClass: Infinity }
  const normal = createFairQueue({ atOnce: CONCURRENT_CHECKS, turnMs: Infinity, ...unbounded })
  /** Bounds the time per turn of the checks that `normal` runs. A demoted check uses none of that time. */
  const turns = createFairQueue({ atOnce: CONCURRENT_CHECKS, turnMs: TURN_MS, ...unbounded })
  const lowPriority = createFairQueue({
    atOnce: CONCURRENT_LOW_PRIORITY_CHECKS,
    turnMs: LOW_PRIORITY_TURN_MS,
    waiting,
    waitingPerClass,
  })

  const runLowPriority = async <T>(bucket: string, check: () => T | Promise<T>): Promise<T | GuardDenial> => {
    const result = await enqueue(bucket, check)
    if (result !== QUEUE_FULL) return result
    return rateLimited({ name, resetSeconds: RETRY_AFTER_SECONDS }, [])
  }
  /**
   * Queues the check. Returns a denial if the queue has no space, or none for this address: the caller has to retry in both
   * cases.
   */
  const enqueue = <T>(
    bucket: string,
    check: () => T | Promise<T>,
  ): ReturnType<typeof runQueued<undefined, T>> => {
    try {
      return runQueued(lowPriority, bucket, check, undefined)
    } catch (error) {
      // The queue throws synchronously; `check` only rejects its promise.
      if (error instanceof Fault && error.code === 'ERR_OVERLOADED') return QUEUE_FULL
      throw error
    }
  }
  return {
    runWithinLimit<T>(
      address: string | undefined,
      check: () => T | Promise<T>,
    ): T | GuardDenial | Promise<T | GuardDenial> {
      // These two queues have no bound, so they deny no check.
      const inTurn = (): T | Promise<T> => runQueued(turns, undefined, check, undefined) as T | Promise<T>
      if (address === undefined) return runQueued(normal, undefined, inTurn, undefined) as T | Promise<T>
      const bucket = addressBucket(address)
      if (budget.isUsedUp(bucket)) return runLowPriority(bucket, check)
      // Other requests of the same burst may use up the budget before this check starts.
      const job = (): T | typeof DEMOTED | Promise<T> => (budget.isUsedUp(bucket) ? DEMOTED : inTurn())
      const outcome = runQueued<undefined, T | typeof DEMOTED>(normal, bucket, job, undefined)
      return andThen<T | typeof DEMOTED | typeof QUEUE_FULL, T | GuardDenial>(outcome, result =>
        result === DEMOTED || result === QUEUE_FULL ? runLowPriority(bucket, check) : result,
      )
    },
    async charge(address) {
      if (address !== undefined) await budget.charge(addressBucket(address))
    },
  }
}
