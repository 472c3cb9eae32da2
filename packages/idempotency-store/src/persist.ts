import { Fault } from '@gatewright/kernel'
import type { Settings } from './options.ts'

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
