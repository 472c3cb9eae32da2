import { createIdempotency } from '@gatewright/idempotency-store'
import type { Claim } from '#packages/idempotency-store/dist/execution/claim.js'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { countedStorage, response, instantTimer, stillTimer, write, start } from '../support.ts'

/** Two processes over one store, with its begins counted. */
function setUp(options: Partial<Parameters<typeof createIdempotency>[0]> = {}) {
  const clock = manualClock()
  const timer = instantTimer(clock)
  const { storage, seen } = countedStorage()
  const make = () => createIdempotency({ storage, clock, timer, ...options })
  return { clock, timer, seen, here: make(), elsewhere: make() }
}

t.test(
  'replays the response of a run in this process to its duplicates, without asking the store',
  async t => {
    const { here, seen } = setUp({ timer: stillTimer })
    const claim = await start(here)
    const duplicates = Array.from({ length: 20 }, () => here.begin(write()))
    await here.complete(claim, response(201))
    for (const duplicate of await Promise.all(duplicates)) {
      t.match(duplicate, { ok: true, value: { state: 'replay', response: response(201) } })
    }
    t.equal(seen.begins, 1)
  },
)

t.test(
  'stops waiting for a run whose lease has ended, also while an older run with a later lease is live',
  async t => {
    const { here, clock } = setUp()
    const first = await here.begin(write({ key: 'key-of-the-first' }))
    if (!first.ok || first.value.state !== 'started') throw new Error('not started')
    clock.advance(-1_000)
    await start(here)
    const drained = here.drained()
    clock.advance(60_500)
    t.match(await here.begin(write()), { code: 'outcome_unknown' })
    await here.complete(first.value.claim, response(201))
    t.equal(await drained, 0)
  },
)

t.test(
  'stops waiting for a run that is completed with an invalid response, and rejects the completion',
  async t => {
    const { here } = setUp()
    const claim = await start(here)
    const duplicate = here.begin(write())
    await t.rejects(here.complete(claim, { ...response(201), body: undefined as never }), {
      name: 'TypeError',
    })
    t.match(await duplicate, { code: 'request_in_progress' })
    t.equal(await here.drained(), 0)
  },
)

t.test('starts one of the duplicates when the run was released', async t => {
  const { here } = setUp()
  const claim = await start(here)
  const duplicates = Array.from({ length: 5 }, () => here.begin(write()))
  await here.release(claim)
  const results = await Promise.all(duplicates)
  t.equal(results.filter(result => result.ok && result.value.state === 'started').length, 1)
  t.equal(results.filter(result => !result.ok && result.code === 'request_in_progress').length, 4)
})

t.test(
  'polls a run of another process every 50 to 500 ms, for a total of 5 s, then denies as in progress',
  async t => {
    const { here, elsewhere, timer } = setUp()
    await start(elsewhere)
    t.match(await here.begin(write()), { code: 'request_in_progress', retryAfterSeconds: 1 })
    t.same(timer.slept.slice(0, 6), [50, 100, 200, 400, 500, 500])
    t.equal(Math.max(...timer.slept), 500)
    t.equal(
      timer.slept.reduce((sum, ms) => sum + ms, 0),
      5000,
    )
  },
)

t.test('replays the response of another process as soon as a poll reads it', async t => {
  const { here, elsewhere, timer } = setUp()
  const claim = await start(elsewhere)
  const waiting = here.begin(write())
  while (timer.slept.length < 3) await new Promise(resolve => setImmediate(resolve))
  await elsewhere.complete(claim, response(201))
  t.match(await waiting, { ok: true, value: { state: 'replay', response: response(201) } })
  t.ok(timer.slept.length <= 5)
})

t.test('lets at most maxWaiters requests wait, and denies further ones immediately', async t => {
  const { here, seen } = setUp({ timer: stillTimer, maxWaiters: 2 })
  const claim = await start(here)
  const waiting = [here.begin(write()), here.begin(write())]
  t.match(await here.begin(write()), { code: 'request_in_progress' })
  await here.complete(claim, response(201))
  for (const each of waiting) t.match(await each, { value: { state: 'replay' } })
  t.equal(seen.begins, 1)
})

t.test('lets the first duplicate of an account wait while another account fills all places', async t => {
  const { here } = setUp({ timer: stillTimer, maxWaiters: 4 })
  const busy = await start(here)
  const own = await start(here, write({ account: 'account-2' }))
  const duplicates = Array.from({ length: 10 }, () => here.begin(write()))
  const neighbour = here.begin(write({ account: 'account-2' }))
  await new Promise(resolve => setImmediate(resolve))
  await here.complete(busy, response(201))
  await here.complete(own, response(202))
  t.match(await neighbour, { ok: true, value: { state: 'replay', response: response(202) } })
  const results = await Promise.all(duplicates)
  t.equal(results.filter(result => result.ok).length, 3)
  for (const denied of results.filter(result => !result.ok)) t.match(denied, { code: 'request_in_progress' })
})

t.test('never shares a response with another payload', async t => {
  const { here } = setUp({ timer: stillTimer })
  const claim = await start(here)
  t.match(await here.begin(write({ text: '{}' })), { code: 'idempotency_key_reused' })
  await here.complete(claim, response(201))
  t.match(await here.begin(write({ text: '{}' })), { code: 'idempotency_key_reused' })
})

t.test('asks the store about a run of this process whose lease has ended', async t => {
  const { here, clock } = setUp({ timer: stillTimer })
  await start(here)
  clock.advance(60_000)
  t.match(await here.begin(write()), { code: 'outcome_unknown' })
})

t.test('ends and drains a run while another payload of its key is denied', async t => {
  const { here } = setUp({ timer: stillTimer })
  const claim = await start(here)
  const duplicate = here.begin(write())
  t.match(await here.begin(write({ text: '{}' })), { code: 'idempotency_key_reused' })
  await here.complete(claim, response(201))
  t.match(await duplicate, { ok: true, value: { state: 'replay' } })
  await here.drained()
})

t.test('drains a run that started while an older run of its key was being released', async t => {
  const { here } = setUp({ timer: stillTimer })
  const first = await start(here)
  const [released, begun] = await Promise.all([here.release(first), here.begin(write({ text: '{}' }))])
  t.equal(released, true)
  if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
  await here.complete(begun.value.claim, response(201))
  await here.drained()
})

t.test('drains when every run of this process has ended, with any ending', async t => {
  const { here } = setUp({ waitMs: 0, timer: stillTimer })
  const claims = await Promise.all(
    ['key-one-1', 'key-two-2', 'key-three'].map(async key => {
      const begun = await here.begin(write({ key }))
      if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
      return begun.value.claim
    }),
  )
  let drained = false
  const draining = (async () => {
    await here.drained()
    drained = true
  })()
  const [one, two, three] = claims as [Claim, Claim, Claim]
  await here.complete(one, response(201))
  await here.release(two)
  t.equal(drained, false)
  await here.complete(three, response(500))
  await draining
  t.equal(drained, true)
})

t.test('drained gives up on handlers that never return, after the lease or after the given time', async t => {
  const { here, timer } = setUp()
  await start(here)
  const responded = await start(here, write({ account: 'account-2' }))
  t.equal(await here.drained(1000), 2)
  t.equal(await here.drained(0), 2)
  await here.complete(responded, response(201))
  t.equal(await here.drained(), 1)
  t.same(timer.slept, [1000, 0, 60_000])
})
