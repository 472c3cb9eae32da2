import { Fault, orFault } from '@gatewright/kernel'
import { encodeDecision, type RunDecision } from '../decision.ts'
import type { IdentifiedRequest } from '../request/identify.ts'
import { retain } from '../response/retention.ts'
import { classify, isStoredResponse } from '../response/stored-response.ts'
import type { Coordinator } from './coordinator.ts'

/**
 * Calls the `recover` option for a lost run and stores its result. Returns false if the outcome stays unknown. If several hosts
 * recover the run simultaneously, the first to write decides. Faults: any error of the callback, and a result whose response is not
 * final.
 */
export async function recover(
  { settings, storage }: Pick<Coordinator, 'settings' | 'storage'>,
  { request, storageKey, effectId }: IdentifiedRequest,
  fence: number,
): Promise<boolean> {
  const { account, operation } = request
  const result = await orFault('the recover callback', () =>
    settings.recover({ account, operation, fence, effectId }),
  )
  const now = settings.clock.now()
  const expiresAt = now + settings.retentionMs
  // `end` returns false if another host has ended the run before. That is not an error: the next attempt reads that ending.
  const decided = (outcome: RunDecision['outcome']): string =>
    encodeDecision({ outcome, by: 'recover', reason: 'the option recover', at: now })
  if (result.state === 'never_happened') {
    const decision = decided('never_happened')
    await storage.end(storageKey, fence, { state: 'free', expiresAt, decision }, now)
    return true
  }
  if (result.state !== 'completed') return false
  if (!isStoredResponse(result.response) || classify(result.response.status) !== 'final') {
    throw new Fault('ERR_STORE_REPLY', 'the recover callback must return a response with a final status')
  }
  const { ending } = retain(result.response, expiresAt, settings)
  await storage.end(storageKey, fence, { decision: decided('took_effect'), ...ending }, now)
  return true
}
