import { Fault, type EpochMs } from '@gatewright/kernel'
import { encode, keep, type StoredAnswer } from './answer.ts'
import type { Settings } from './options.ts'
import type { KeptAnswer } from './runs.ts'
import type { Ending, IdempotencyStorage } from './storage/port.ts'

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
 * Ends a run in the store, in up to three tries: an ending is safe to repeat, and a run that took effect must not
 * become unknown because one connection broke.
 */
export async function persist(
  { settings, storage }: { readonly settings: Settings; readonly storage: IdempotencyStorage },
  { storageKey, fence }: { readonly storageKey: string; readonly fence: number },
  ending: Ending,
): Promise<boolean> {
  for (let tries = 0; ; tries++) {
    try {
      return await storage.end(storageKey, fence, ending, settings.clock.now())
    } catch (error) {
      const pauseMs = PAUSES_MS[tries]
      if (!(error instanceof Fault) || pauseMs === undefined) throw error
      await settings.timer.sleep(pauseMs, new AbortController().signal)
    }
  }
}
