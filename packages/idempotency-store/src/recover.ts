import { Fault, orFault } from '@gatewright/kernel'
import { classify, isAnswer, type StoredAnswer } from './answer.ts'
import { keeping } from './ending.ts'
import type { Settings } from './options.ts'
import type { IdentifiedRequest } from './request.ts'
import type { IdempotencyStorage } from './storage/port.ts'

/** A run whose lease ended without an outcome. */
export interface LostRun {
  readonly account: string
  readonly operation: string
  /** The lost run's fencing number. */
  readonly fence: number
  /** The name its effect was given: what to ask the processor or the ledger about. */
  readonly effectId: string
}

/** What became of a lost run. */
export type Recovered =
  /**
   * It took effect; `answer` is what the first caller should have got, with a status that is final, and with the `spends`
   * that it reserved: without them whoever asks again gets it whatever their limits.
   */
  | { readonly state: 'completed'; readonly answer: StoredAnswer }
  /**
   * It took no effect and no longer can: the write is run again, with a larger fence and the same effectId. What it holds
   * elsewhere stands, and the next run finds it under the same id.
   */
  | { readonly state: 'never_happened' }
  /** Nobody can say yet: the caller gets `outcome_unknown`. */
  | { readonly state: 'unknown' }

/**
 * Asks what became of a lost run and writes it down. False when nobody can say. Of several recoveries at once the
 * first to write decides. Faults: whatever the callback throws, and an answer of it that is not final.
 */
export async function recover(
  { settings, storage }: { readonly settings: Settings; readonly storage: IdempotencyStorage },
  request: IdentifiedRequest,
  fence: number,
): Promise<boolean> {
  const { account, operation } = request.facts
  const lost: LostRun = { account, operation, fence, effectId: request.effectId }
  const outcome = await orFault('the recovery callback', () => settings.recover(lost))
  const now = settings.clock.now()
  const expiresAt = now + settings.retentionMs
  // An ending that comes too late is no failure: the next attempt reads what was written instead.
  if (outcome.state === 'never_happened') {
    await storage.end(request.storageKey, fence, { state: 'free', expiresAt }, now)
    return true
  }
  if (outcome.state !== 'completed') return false
  if (!isAnswer(outcome.answer) || classify(outcome.answer.status) !== 'final') {
    throw new Fault('ERR_STORE_REPLY', 'the recovery callback gave an answer that is not final')
  }
  const { ending } = keeping(outcome.answer, expiresAt, settings)
  await storage.end(request.storageKey, fence, ending, now)
  return true
}
