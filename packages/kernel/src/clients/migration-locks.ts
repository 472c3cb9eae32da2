import { Fault } from '../fault.ts'
import { codeOf } from './postgres/retries.ts'

/** A lock was not free in time, or two transactions waited for each other. */
const LOCKED = new Set(['55P03', '40P01'])

/** Each pause is random between these bounds, in ms. What waited behind the tries runs meanwhile. */
const PAUSE_MS = { least: 500, most: 1500 }

/**
 * Runs `run` again while it fails because other transactions use the tables that it changes, for `patienceSeconds`. Then throws a fault that
 * says so. Other errors are rethrown immediately.
 */
export async function retriedOnLocks<T>(patienceSeconds: number, run: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + patienceSeconds * 1000
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!LOCKED.has(codeOf(error) ?? '')) throw error
      if (performance.now() >= giveUpAt) throw tablesInUse(patienceSeconds, error)
      const pauseMs = PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least)
      await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  }
}

function tablesInUse(patienceSeconds: number, cause: unknown): Fault {
  const reason = new Error(
    `other transactions have used the tables for ${patienceSeconds} s: end the long ones (pg_stat_activity), or migrate later`,
    { cause },
  )
  return new Fault('ERR_STORE_UNAVAILABLE', 'the tables could not be migrated', { cause: reason })
}
