import {
  createIdempotency,
  type Claim,
  type Idempotency,
  type LostRun,
  type Recovered,
} from '@gatewright/idempotency-store'
import { memoryStorage } from '@gatewright/idempotency-store/memory'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { answer, stillTimer, write } from './support.ts'

const LEASE_MS = 60_000

async function start(idempotency: Idempotency): Promise<Claim> {
  const begun = await idempotency.begin(write())
  if (!begun.ok || begun.value.state !== 'started') throw new Error(`not started: ${JSON.stringify(begun)}`)
  return begun.value.claim
}

/** A host whose first run was lost, and how often its recovery was asked. */
async function lost(recover: (lost: LostRun) => Promise<Recovered>) {
  const clock = manualClock()
  const asked: LostRun[] = []
  const idempotency = createIdempotency({
    storage: memoryStorage(),
    clock,
    timer: stillTimer,
    recover: run => {
      asked.push(run)
      return recover(run)
    },
  })
  const claim = await start(idempotency)
  clock.advance(LEASE_MS)
  return { idempotency, claim, asked, clock }
}

t.test('tells the callback whose run it was, and what its effect was called', async t => {
  const { idempotency, claim, asked } = await lost(async () => ({ state: 'unknown' }))
  await idempotency.begin(write())
  const { fence, effectId } = claim
  t.same(asked, [{ account: 'account-1', operation: 'subscriptions.payin', fence, effectId }])
})

t.test('asks once for 20 simultaneous retries, and gives all of them what it says', async t => {
  for (const state of ['completed', 'unknown'] as const) {
    const { idempotency, asked } = await lost(async () => ({ state, answer: answer(201) }))
    const results = await Promise.all(Array.from({ length: 20 }, () => idempotency.begin(write())))
    t.equal(asked.length, 1)
    const expected =
      state === 'unknown'
        ? { ok: false, code: 'outcome_unknown' }
        : { ok: true, value: { state: 'replay', answer: answer(201) } }
    for (const result of results) t.match(result, expected)
  }
})

t.test('starts one of 20 simultaneous retries when it never happened', async t => {
  const { idempotency, asked } = await lost(async () => ({ state: 'never_happened' }))
  const retries = Array.from({ length: 20 }, () => idempotency.begin(write()))
  const first = await Promise.race(retries)
  if (!first.ok || first.value.state !== 'started') throw new Error('not started')
  await idempotency.complete(first.value.claim, answer(201))
  const results = await Promise.all(retries)
  t.equal(results.filter(result => result.ok && result.value.state === 'started').length, 1)
  t.equal(results.filter(result => result.ok && result.value.state === 'replay').length, 19)
  t.equal(asked.length, 1)
})

t.test('lets the first runner win when it completes while the callback is asked', async t => {
  let decide: (recovered: Recovered) => void = () => {}
  const { idempotency, claim } = await lost(
    () =>
      new Promise<Recovered>(resolve => {
        decide = resolve
      }),
  )
  const retry = idempotency.begin(write())
  await new Promise(resolve => setImmediate(resolve))
  t.match(await idempotency.complete(claim, answer(201, '"first"')), { state: 'stored' })
  decide({ state: 'never_happened' })
  t.match(await retry, { ok: true, value: { state: 'replay', answer: answer(201, '"first"') } })
})

t.test('shuts the first runner out when the callback was faster', async t => {
  const { idempotency, claim } = await lost(async () => ({
    state: 'completed',
    answer: answer(201, '"asked"'),
  }))
  await idempotency.begin(write())
  t.match(await idempotency.complete(claim, answer(201, '"first"')), { state: 'late' })
  t.match(await idempotency.complete(claim, answer(500)), { state: 'late' })
  t.equal(await idempotency.release(claim), false)
  t.match(await idempotency.begin(write()), { value: { answer: answer(201, '"asked"') } })
})

t.test('throws a fault when the callback throws or gives an answer that is not final', async t => {
  const broken = [
    async () => Promise.reject(new Error('the processor is down')),
    async () => ({ state: 'completed', answer: answer(503) }),
    async () => ({ state: 'completed', answer: { status: 201 } }),
  ] as ((lost: LostRun) => Promise<Recovered>)[]
  for (const recover of broken) {
    const { idempotency } = await lost(recover)
    await t.rejects(idempotency.begin(write()), { name: 'Fault', code: /^ERR_STORE_/ })
  }
})

t.test('asks at most once in one request, also when the key is lost again at once', async t => {
  const { idempotency, asked, clock } = await lost(async () => {
    clock.advance(LEASE_MS)
    return { state: 'never_happened' }
  })
  t.match(await idempotency.begin(write()), { ok: true, value: { state: 'started' } })
  t.equal(asked.length, 1)
})
