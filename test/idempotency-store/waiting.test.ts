import { createIdempotency, type Claim, type Idempotency } from '@gatewright/idempotency-store'
import { memoryStorage } from '@gatewright/idempotency-store/memory'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { answer, instantTimer, stillTimer, write } from './support.ts'

/** Two processes over one store, with its begins counted. */
function setUp(options: Partial<Parameters<typeof createIdempotency>[0]> = {}) {
  const clock = manualClock()
  const timer = instantTimer(clock)
  const sound = memoryStorage()
  const seen = { begins: 0 }
  const storage = {
    ...sound,
    begin: ((...args) => {
      seen.begins++
      return sound.begin(...args)
    }) as typeof sound.begin,
  }
  const make = () => createIdempotency({ storage, clock, timer, ...options })
  return { clock, timer, seen, here: make(), elsewhere: make() }
}

async function start(idempotency: Idempotency): Promise<Claim> {
  const begun = await idempotency.begin(write())
  if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
  return begun.value.claim
}

t.test('gives duplicates of a run in this process its answer, without asking the store', async t => {
  const { here, seen } = setUp({ timer: stillTimer })
  const claim = await start(here)
  const duplicates = Array.from({ length: 20 }, () => here.begin(write()))
  await here.complete(claim, answer(201))
  for (const duplicate of await Promise.all(duplicates)) {
    t.match(duplicate, { ok: true, value: { state: 'replay', answer: answer(201) } })
  }
  t.equal(seen.begins, 1)
})

t.test(
  'lets go of those who wait for a run that is over, also while one of before the clock was set back is live',
  async t => {
    const { here, clock } = setUp()
    const first = await here.begin(write({ key: 'key-of-the-first' }))
    if (!first.ok || first.value.state !== 'started') throw new Error('not started')
    clock.advance(-1_000)
    await start(here)
    const drained = here.drained()
    clock.advance(60_500)
    t.match(await here.begin(write()), { code: 'outcome_unknown' })
    await here.complete(first.value.claim, answer(201))
    t.equal(await drained, undefined)
  },
)

t.test('lets go of those who wait where the answer is none, and says so to who gave it', async t => {
  const { here } = setUp()
  const claim = await start(here)
  const duplicate = here.begin(write())
  await t.rejects(here.complete(claim, { ...answer(201), body: undefined as never }), { name: 'TypeError' })
  t.match(await duplicate, { code: 'request_in_progress' })
  t.equal(await here.drained(), undefined)
})

t.test('starts one of the duplicates when the run in this process was released', async t => {
  const { here } = setUp()
  const claim = await start(here)
  const duplicates = Array.from({ length: 5 }, () => here.begin(write()))
  await here.release(claim)
  const results = await Promise.all(duplicates)
  t.equal(results.filter(result => result.ok && result.value.state === 'started').length, 1)
  t.equal(results.filter(result => !result.ok && result.code === 'request_in_progress').length, 4)
})

t.test(
  'polls a run of another process from 50 ms to 500 ms, for 5 s in all, then says in progress',
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

t.test('replays the answer of another process as soon as a poll sees it', async t => {
  const { here, elsewhere, timer } = setUp()
  const claim = await start(elsewhere)
  const waiting = here.begin(write())
  while (timer.slept.length < 3) await new Promise(resolve => setImmediate(resolve))
  await elsewhere.complete(claim, answer(201))
  t.match(await waiting, { ok: true, value: { state: 'replay', answer: answer(201) } })
  t.ok(timer.slept.length <= 5)
})

t.test('lets at most maxWaiters wait, and refuses one more at once', async t => {
  const { here, seen } = setUp({ timer: stillTimer, maxWaiters: 2 })
  const claim = await start(here)
  const waiting = [here.begin(write()), here.begin(write())]
  t.match(await here.begin(write()), { code: 'request_in_progress' })
  await here.complete(claim, answer(201))
  for (const each of waiting) t.match(await each, { value: { state: 'replay' } })
  t.equal(seen.begins, 1)
})

t.test('never shares an answer with another payload', async t => {
  const { here } = setUp({ timer: stillTimer })
  const claim = await start(here)
  t.match(await here.begin(write({ text: '{}' })), { code: 'idempotency_key_reused' })
  await here.complete(claim, answer(201))
  t.match(await here.begin(write({ text: '{}' })), { code: 'idempotency_key_reused' })
})

t.test('asks the store about a run of this process whose lease is over', async t => {
  const { here, clock } = setUp({ timer: stillTimer })
  await start(here)
  clock.advance(60_000)
  t.match(await here.begin(write()), { code: 'outcome_unknown' })
})

t.test('ends and drains a run that another payload of its key came by', async t => {
  const { here } = setUp({ timer: stillTimer })
  const claim = await start(here)
  const duplicate = here.begin(write())
  t.match(await here.begin(write({ text: '{}' })), { code: 'idempotency_key_reused' })
  await here.complete(claim, answer(201))
  t.match(await duplicate, { ok: true, value: { state: 'replay' } })
  await here.drained()
})

t.test('drains a run that started while an older one of its key was being released', async t => {
  const { here } = setUp({ timer: stillTimer })
  const first = await start(here)
  const [released, begun] = await Promise.all([here.release(first), here.begin(write({ text: '{}' }))])
  t.equal(released, true)
  if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
  await here.complete(begun.value.claim, answer(201))
  await here.drained()
})

t.test('drains when every run of this process has ended, whichever way', async t => {
  const { here } = setUp({ waitMs: 0 })
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
  await here.complete(one, answer(201))
  await here.release(two)
  t.equal(drained, false)
  await here.complete(three, answer(500))
  await draining
  t.equal(drained, true)
})
