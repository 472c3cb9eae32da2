import { allow, Fault } from '@gatewright/kernel'
import type { Replay } from '../response/stored-response.ts'
import type { Ending } from '../storage/port.ts'
import type { Coordinator } from './coordinator.ts'
import type { SharedOutcome } from './local-runs.ts'

/** How a run ends, and what this package then returns to its caller. */
export interface EndPlan<Result> {
  readonly ending: Ending
  /** The replay for duplicates in this process, if the run ends with a stored response. */
  readonly replay?: Replay
  /** The result if this call ended the run. */
  readonly ended: Result
  /** The result if another call had decided before. */
  readonly late: Result
}

const RETRY_DELAYS_MS = [50, 250]

/**
 * Ends a run in the store. Tries up to three times, because repeating an ending is safe, and a run that took effect must not
 * become unknown because one connection broke. Then gives the outcome to the duplicates that wait in this process; if the store
 * failed, each of them reads the record from the store. Throws the fault of the last attempt. Errors other than `Fault` are
 * rethrown immediately.
 */
export async function endRun<Result>(
  { settings, storage, runs }: Coordinator,
  claim: { readonly storageKey: string; readonly fence: number },
  { ending, replay, ended, late }: EndPlan<Result>,
): Promise<Result> {
  const { storageKey, fence } = claim
  let outcome: SharedOutcome
  try {
    for (let tries = 0; ; tries++) {
      try {
        if (!(await storage.end(storageKey, fence, ending, settings.clock.now()))) return late
        if (replay) outcome = allow(replay)
        return ended
      } catch (error) {
        const delayMs = RETRY_DELAYS_MS[tries]
        if (!(error instanceof Fault) || delayMs === undefined) throw error
        await settings.timer.sleep(delayMs, new AbortController().signal)
      }
    }
  } finally {
    runs.endClaimed(claim, outcome)
  }
}
