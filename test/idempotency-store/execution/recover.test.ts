import { createIdempotency, type RecoveryResult } from '@gatewright/idempotency-store'
import type { LostRun } from '#packages/idempotency-store/dist/options.js'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { response, stillTimer, write, start } from '../support.ts'

const LEASE_MS = 60_000

/** An idempotency whose first run was lost, and the calls of its recover option. */
async function withLostRun(recover: (run: LostRun) => Promise<RecoveryResult>) {
  const clock = manualClock()
  const calls: LostRun[] = []
  const idempotency = createIdempotency({
    storage: memoryIdempotency(),
    clock,
    timer: stillTimer,
    recover: run => {
      calls.push(run)
      return recover(run)
    },
  })
  const claim = await start(idempotency)
  clock.advance(LEASE_MS)
  return { idempotency, claim, calls, clock }
}

t.test('passes account, operation, fence and effectId to the callback', async t => {
  const { idempotency, claim, calls } = await withLostRun(async () => ({ state: 'unknown' }))
  await idempotency.begin(write())
  const { fence, effectId } = claim
  t.same(calls, [{ account: 'account-1', operation: 'subscriptions.payin', fence, effectId }])
})

t.test('calls recover once for 20 simultaneous retries, and gives all of them its result', async t => {
  for (const state of ['completed', 'unknown'] as const) {
    const { idempotency, calls } = await withLostRun(async () => ({ state, response: response(201) }))
    const results = await Promise.all(Array.from({ length: 20 }, () => idempotency.begin(write())))
    t.equal(calls.length, 1)
    const expected =
      state === 'unknown'
        ? { ok: false, code: 'outcome_unknown' }
        : { ok: true, value: { state: 'replay', response: response(201) } }
    for (const result of results) t.match(result, expected)
  }
})

t.test('keeps the response of recover for the retention time', async t => {
  const { idempotency, clock } = await withLostRun(async () => ({
    state: 'completed',
    response: response(201),
  }))
  const expiresAt = clock.now() + 86_400_000
  t.match(await idempotency.begin(write()), { value: { state: 'replay', expiresAt } })
  clock.set(expiresAt - 1)
  t.match(await idempotency.begin(write()), { value: { state: 'replay', expiresAt } })
  clock.set(expiresAt)
  t.match(await idempotency.begin(write()), { value: { state: 'started' } })
})

t.test('starts one of 20 simultaneous retries when `recover` returns never_happened', async t => {
  const { idempotency, calls } = await withLostRun(async () => ({ state: 'never_happened' }))
  const retries = Array.from({ length: 20 }, () => idempotency.begin(write()))
  const first = await Promise.race(retries)
  if (!first.ok || first.value.state !== 'started') throw new Error('not started')
  await idempotency.complete(first.value.claim, response(201))
  const results = await Promise.all(retries)
  t.equal(results.filter(result => result.ok && result.value.state === 'started').length, 1)
  t.equal(results.filter(result => result.ok && result.value.state === 'replay').length, 19)
  t.equal(calls.length, 1)
})

t.test('keeps the completion of the first owner when it arrives while the callback runs', async t => {
  let decide: (recovered: RecoveryResult) => void = () => {}
  const { idempotency, claim } = await withLostRun(
    () =>
      new Promise<RecoveryResult>(resolve => {
        decide = resolve
      }),
  )
  const retry = idempotency.begin(write())
  await new Promise(resolve => setImmediate(resolve))
  t.match(await idempotency.complete(claim, response(201, '"first"')), { state: 'stored' })
  decide({ state: 'never_happened' })
  t.match(await retry, { ok: true, value: { state: 'replay', response: response(201, '"first"') } })
})

t.test('refuses completion by the first owner when the callback was faster', async t => {
  const { idempotency, claim } = await withLostRun(async () => ({
    state: 'completed',
    response: response(201, '"calls"'),
  }))
  await idempotency.begin(write())
  t.match(await idempotency.complete(claim, response(201, '"first"')), { state: 'late' })
  t.match(await idempotency.complete(claim, response(500)), { state: 'late' })
  t.equal(await idempotency.release(claim), false)
  t.match(await idempotency.begin(write()), { value: { response: response(201, '"calls"') } })
})

t.test(
  'throws a fault when the callback throws or returns a response that is malformed or not final',
  async t => {
    const broken = [
      async () => Promise.reject(new Error('the processor is down')),
      async () => ({ state: 'completed', response: response(503) }),
      async () => ({ state: 'completed', response: { status: 201 } }),
    ] as ((run: LostRun) => Promise<RecoveryResult>)[]
    for (const recover of broken) {
      const { idempotency } = await withLostRun(recover)
      await t.rejects(idempotency.begin(write()), { name: 'Fault', code: /^ERR_STORE_/ })
    }
  },
)

t.test('calls recover at most once per request, also when the run is lost again immediately', async t => {
  const { idempotency, calls, clock } = await withLostRun(async () => {
    clock.advance(LEASE_MS)
    return { state: 'never_happened' }
  })
  t.match(await idempotency.begin(write()), { ok: true, value: { state: 'started' } })
  t.equal(calls.length, 1)
})
