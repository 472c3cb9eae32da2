import { Fault, type EpochMs } from '@gatewright/kernel'
import { decode, encode, keep, type StoredAnswer } from './answer.ts'
import type { Settings } from './options.ts'
import type { KeptAnswer } from './runs.ts'
import type { Ending } from './storage/port.ts'

type DoneEnding = Extract<Ending, { readonly state: 'done' }>

/** The ending that keeps an answer. */
export function doneEnding(answer: StoredAnswer, expiresAt: EpochMs, settings: Settings): DoneEnding {
  return { state: 'done', answer: encode(keep(answer, settings)), expiresAt }
}

/** What a duplicate gets of it. */
export function keptOf({ answer, expiresAt }: DoneEnding): KeptAnswer {
  return { answer: decode(answer), expiresAt }
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
