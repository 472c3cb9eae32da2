import { createIdempotency, type IdempotencyStorage } from '@gatewright/idempotency-store'
import { memoryStorage } from '@gatewright/idempotency-store/memory'
import { Fault } from '@gatewright/kernel'
import t from 'tap'
import { answer, instantTimer, write } from './support.ts'

/** A store whose endings fail, the first `failures` times, before or after they took effect. */
function flaky(failures: number, moment: 'before' | 'after'): IdempotencyStorage & { tries: number } {
  const sound = memoryStorage()
  const storage = {
    ...sound,
    tries: 0,
    async end(...args: Parameters<IdempotencyStorage['end']>) {
      storage.tries++
      const fails = storage.tries <= failures
      if (fails && moment === 'before') throw new Fault('ERR_STORE_UNAVAILABLE', 'cut')
      const won = await sound.end(...args)
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

t.test('tries a completion up to three times, and keeps the answer', async t => {
  for (const moment of ['before', 'after'] as const) {
    const storage = flaky(2, moment)
    const { idempotency, claim, timer } = await started(storage)
    t.match(await idempotency.complete(claim, answer(201)), { state: 'stored' })
    t.equal(storage.tries, 3)
    t.same(timer.slept, [50, 250])
    t.match(await idempotency.begin(write()), { value: { state: 'replay', answer: answer(201) } })
  }
})

t.test('throws the fault after that, and the write is never run again by itself', async t => {
  const { idempotency, claim } = await started(flaky(3, 'before'))
  await t.rejects(idempotency.complete(claim, answer(201)), { code: 'ERR_STORE_UNAVAILABLE' })
  t.match(await idempotency.begin(write()), { code: 'request_in_progress' })
})

t.test('gives those who wait the fault of the one that asks the store', async t => {
  const fault = new Fault('ERR_STORE_UNAVAILABLE', 'down')
  const storage = { ...memoryStorage(), begin: async () => Promise.reject(fault) }
  const { begin } = createIdempotency({ storage })
  for (const result of await Promise.allSettled(Array.from({ length: 10 }, () => begin(write())))) {
    t.match(result, { status: 'rejected', reason: { code: 'ERR_STORE_UNAVAILABLE' } })
  }
})

t.test('does not end a run twice', async t => {
  const { idempotency, claim } = await started(memoryStorage())
  t.match(await idempotency.complete(claim, answer(201)), { state: 'stored' })
  t.equal(await idempotency.release(claim), false)
  t.same(await idempotency.complete(claim, answer(400)), { state: 'late' })
  t.match(await idempotency.begin(write()), { value: { state: 'replay' } })
})

t.test('rejects, and never throws, where a clock fails or an answer is none', async t => {
  const { idempotency, claim } = await started(memoryStorage())
  const none = {} as ReturnType<typeof answer>
  await t.rejects(() => idempotency.complete(claim, { ...none, status: 200 }), TypeError)
  const clock = {
    now(): number {
      throw new Error('no clock')
    },
  }
  const broken = createIdempotency({ storage: memoryStorage(), clock })
  const verbs: (() => Promise<unknown>)[] = [
    () => broken.begin(write()),
    () => broken.complete(claim, answer(201)),
    () => broken.release(claim),
  ]
  for (const verb of verbs) {
    const ended = verb()
    await t.rejects(ended, { message: 'no clock' })
  }
})
