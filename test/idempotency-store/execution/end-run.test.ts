import { createIdempotency, type IdempotencyStorage } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { Fault } from '@gatewright/kernel'
import t from 'tap'
import { response, instantTimer, write } from '../support.ts'

/** A store whose first `failures` endings fail, before or after they took effect. */
function flaky(failures: number, moment: 'before' | 'after'): IdempotencyStorage & { tries: number } {
  const inner = memoryIdempotency()
  const storage = {
    ...inner,
    tries: 0,
    async end(...args: Parameters<IdempotencyStorage['end']>) {
      storage.tries++
      const fails = storage.tries <= failures
      if (fails && moment === 'before') throw new Fault('ERR_STORE_UNAVAILABLE', 'cut')
      const won = await inner.end(...args)
      if (fails) throw new Fault('ERR_STORE_UNAVAILABLE', 'cut')
      return won
    },
  }
  return storage
}

async function started(storage: IdempotencyStorage) {
  const timer = instantTimer()
  const idempotency = createIdempotency({ storage, timer, waitMs: 0 })
  const begun = await idempotency.begin(write())
  if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
  return { idempotency, claim: begun.value.claim, timer }
}

t.test('tries a completion up to three times, and stores the response', async t => {
  for (const moment of ['before', 'after'] as const) {
    const storage = flaky(2, moment)
    const { idempotency, claim, timer } = await started(storage)
    t.match(await idempotency.complete(claim, response(201)), { state: 'stored' })
    t.equal(storage.tries, 3)
    t.same(timer.slept, [50, 250])
    t.match(await idempotency.begin(write()), { value: { state: 'replay', response: response(201) } })
  }
})

t.test('throws the fault of the third try, and never runs the write again automatically', async t => {
  const { idempotency, claim } = await started(flaky(3, 'before'))
  await t.rejects(idempotency.complete(claim, response(201)), { code: 'ERR_STORE_UNAVAILABLE' })
  t.match(await idempotency.begin(write()), { code: 'request_in_progress' })
})

t.test('rejects waiting duplicates with the fault of the request that asked the store', async t => {
  const fault = new Fault('ERR_STORE_UNAVAILABLE', 'down')
  const storage = { ...memoryIdempotency(), begin: async () => Promise.reject(fault) }
  const { begin } = createIdempotency({ storage })
  for (const result of await Promise.allSettled(Array.from({ length: 10 }, () => begin(write())))) {
    t.match(result, { status: 'rejected', reason: { code: 'ERR_STORE_UNAVAILABLE' } })
  }
})

t.test('does not end a run twice', async t => {
  const { idempotency, claim } = await started(memoryIdempotency())
  t.match(await idempotency.complete(claim, response(201)), { state: 'stored' })
  t.equal(await idempotency.release(claim), false)
  t.same(await idempotency.complete(claim, response(400)), { state: 'late' })
  t.match(await idempotency.begin(write()), { value: { state: 'replay' } })
})

t.test('rejects, and never throws synchronously, when a clock fails or a response is invalid', async t => {
  const { idempotency, claim } = await started(memoryIdempotency())
  const none = {} as ReturnType<typeof response>
  await t.rejects(() => idempotency.complete(claim, { ...none, status: 200 }), TypeError)
  const clock = {
    now(): number {
      throw new Error('no clock')
    },
  }
  const broken = createIdempotency({ storage: memoryIdempotency(), clock })
  const verbs: (() => Promise<unknown>)[] = [
    () => broken.begin(write()),
    () => broken.complete(claim, response(201)),
    () => broken.release(claim),
  ]
  for (const verb of verbs) {
    const ended = verb()
    await t.rejects(ended, { message: 'no clock' })
  }
})
