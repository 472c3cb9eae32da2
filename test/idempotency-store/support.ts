import type { IdempotentRequest, StoredResponse, Timer } from '@gatewright/idempotency-store'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'

/** A complete request. */
export function write(change: Partial<IdempotentRequest> & { text?: string } = {}): IdempotentRequest {
  const { text = '{"amountCents":100}', ...facts } = change
  return {
    account: 'account-1',
    operation: 'subscriptions.payin',
    key: 'key-00000001',
    method: 'POST',
    body: Buffer.from(text),
    ...facts,
  }
}

/** A response with a status. */
export function response(status: number, body = `{"status":${status}}`): StoredResponse {
  return { status, headers: [['content-type', 'application/json']], body }
}

/** A timer whose sleeps take no time: each moves its own clock and the given one, and gives the event loop a turn. */
export function instantTimer(clock: ManualClock = manualClock()): Timer & { readonly slept: number[] } {
  let now = 0
  const slept: number[] = []
  return {
    slept,
    now: () => now,
    async sleep(ms) {
      slept.push(ms)
      now += ms
      clock.advance(ms)
      await new Promise(resolve => setImmediate(resolve))
    },
  }
}

/** A timer on which no time passes: waiting ends only with the outcome of a run. */
export const stillTimer: Timer = {
  now: () => 0,
  sleep: (_ms, stop) => new Promise<void>(resolve => stop.addEventListener('abort', () => resolve())),
}
