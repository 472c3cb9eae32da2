import { allow, Fault, type EpochMs } from '@gatewright/kernel'
import { encode, keep, type StoredAnswer } from './answer.ts'
import type { Mode } from './decide.ts'
import type { Settings } from './options.ts'
import type { KeptAnswer, Settled } from './runs.ts'
import type { Ending } from './storage/port.ts'

/** An answer as storage keeps it and as a duplicate in this process gets it. */
export interface Keeping {
  readonly ending: Extract<Ending, { readonly state: 'done' }>
  readonly kept: KeptAnswer
}

/** Prepares an answer to be kept until `expiresAt`. */
export function keeping(answer: StoredAnswer, expiresAt: EpochMs, settings: Settings): Keeping {
  const kept = keep(answer, settings)
  return { ending: { state: 'done', answer: encode(kept), expiresAt }, kept: { answer: kept, expiresAt } }
}

/** How a run is to end, and what the caller is told. */
export interface Outcome<T> {
  readonly ending: Ending
  /** The answer for duplicates in this process. */
  readonly kept?: KeptAnswer
  /** What to say where this call ended the run. */
  readonly won: T
  /** What to say where somebody else had decided. */
  readonly late: T
}

const PAUSES_MS = [50, 250]

/**
 * Ends a run in the store, in up to three tries: an ending is safe to repeat, and a run that took effect must not
 * become unknown because one connection broke. Tells those who wait in this process, and where it failed, to ask the
 * store themselves. Faults: those of the last try; what is no fault is thrown at once.
 */
export async function end<T>(
  { settings, storage, runs }: Mode,
  claim: { readonly storageKey: string; readonly fence: number },
  { ending, kept, won, late }: Outcome<T>,
): Promise<T> {
  const { storageKey, fence } = claim
  let settled: Settled
  try {
    for (let tries = 0; ; tries++) {
      try {
        if (!(await storage.end(storageKey, fence, ending, settings.clock.now()))) return late
        if (kept) settled = allow(kept)
        return won
      } catch (error) {
        const pauseMs = PAUSES_MS[tries]
        if (!(error instanceof Fault) || pauseMs === undefined) throw error
        await settings.timer.sleep(pauseMs, new AbortController().signal)
      }
    }
  } finally {
    // Also when the store failed: those who wait then ask it themselves.
    runs.endClaimed(claim, settled)
  }
}
