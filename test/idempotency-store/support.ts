import type { Idempotency, IdempotencyStorage, StoredResponse } from '@gatewright/idempotency-store'
import type { Claim } from '#packages/idempotency-store/dist/execution/claim.js'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import type { IdempotentRequest } from '#packages/idempotency-store/dist/request/identify.js'
import type { Timer } from '#packages/idempotency-store/dist/execution/timer.js'
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

/** Begins a run, and returns its claim. Throws if it does not start. */
export async function start(idempotency: Idempotency, request = write()): Promise<Claim> {
  const begun = await idempotency.begin(request)
  if (!begun.ok || begun.value.state !== 'started') throw new Error(`not started: ${JSON.stringify(begun)}`)
  return begun.value.claim
}

/** A storage in memory, and how many begins it was asked for. */
export function countedStorage(): {
  readonly storage: IdempotencyStorage
  readonly seen: { begins: number }
} {
  const inner = memoryIdempotency()
  const seen = { begins: 0 }
  const storage: IdempotencyStorage = {
    ...inner,
    begin(...args) {
      seen.begins++
      return inner.begin(...args)
    },
  }
  return { storage, seen }
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

/** A timer that a test moves together with its clock. */
export interface ManualTimer extends Timer {
  /** Moves both by `ms` and ends the sleeps that are due, the first that is due first, with turns of the event loop between them. */
  advance(ms: number): Promise<void>
  /** How many sleeps have not ended. */
  readonly sleeping: () => number
}

/** Makes a manual timer. */
export function manualTimer(clock: ManualClock): ManualTimer {
  let now = 0
  const sleeps = new Set<{ readonly at: number; readonly end: () => void }>()
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
  }
  const moveTo = (at: number): void => {
    clock.advance(at - now)
    now = at
  }
  return {
    now: () => now,
    sleeping: () => sleeps.size,
    sleep: (ms, stop) =>
      new Promise(resolve => {
        const slept = {
          at: now + ms,
          end: (): void => {
            if (sleeps.delete(slept)) resolve()
          },
        }
        sleeps.add(slept)
        stop.addEventListener('abort', slept.end)
      }),
    async advance(ms) {
      const until = now + ms
      await turns()
      for (;;) {
        const [first] = [...sleeps].sort((one, other) => one.at - other.at)
        if (!first || first.at > until) break
        moveTo(Math.max(first.at, now))
        first.end()
        await turns()
      }
      moveTo(until)
    },
  }
}
