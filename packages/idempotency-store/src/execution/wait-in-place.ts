import type { IdentifiedRequest } from '../request/identify.ts'
import type { Coordinator } from './coordinator.ts'
import { waitFor } from './timer.ts'

/** A request that may have to wait. */
export interface WaitingRequest {
  readonly request: IdentifiedRequest
  /** When it has waited long enough, by the timer, in ms. */
  readonly giveUpAt: number
}

/**
 * Waits at most `atMostMs` for what `waitForEnd` returns. Returns undefined without waiting if the request has no time left or gets no
 * place. A request that loses its place gets `{ ended: undefined }`, as one whose time is over.
 */
export async function waitInPlace<T>(
  { places, settings: { timer } }: Coordinator,
  { request, giveUpAt }: WaitingRequest,
  atMostMs: number,
  waitForEnd?: () => Promise<T | undefined>,
): Promise<{ readonly ended: T | undefined } | undefined> {
  const { account } = request.request
  const leftMs = giveUpAt - timer.now()
  const place = leftMs > 0 ? places.take(account) : undefined
  if (!place) return undefined
  try {
    // Created here and not earlier: if the run fails, a promise that nobody waits for would end the process.
    return { ended: await waitFor(timer, Math.min(leftMs, atMostMs), place, waitForEnd?.()) }
  } finally {
    places.giveBack(account, place)
  }
}
