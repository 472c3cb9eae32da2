import type { RequestFacts, StoredAnswer, Timer } from '@gatewright/idempotency-store'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'

/** A write with everything given. */
export function write(change: Partial<RequestFacts> & { text?: string } = {}): RequestFacts {
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

/** An answer of a status. */
export function answer(status: number, body = `{"status":${status}}`): StoredAnswer {
  return { status, headers: [['content-type', 'application/json']], body }
}

/** A timer whose sleeps take no time: each moves its own clock, and the given one, and lets others run. */
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

/** A timer on which no time passes: whoever waits, waits for an event. */
export const stillTimer: Timer = { now: () => 0, sleep: () => new Promise<void>(() => {}) }
