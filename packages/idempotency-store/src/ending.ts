import { Fault, type EpochMs } from '@gatewright/kernel'
import { encode, keep, type StoredAnswer } from './answer.ts'
import type { Settings } from './options.ts'
import type { KeptAnswer } from './runs.ts'
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

const PAUSES_MS = [50, 250]

/**
 * Tries a step of the store up to three times. For steps that are safe to repeat and whose loss costs a known
 * outcome: a run that took effect must not become unknown because one connection broke.
 */
export async function persist<T>({ timer }: Settings, step: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      await timer.sleep(pauseMs, new AbortController().signal)
    }
  }
  return step()
}
