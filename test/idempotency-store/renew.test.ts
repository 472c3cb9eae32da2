// A run that has caused nothing yet gets a whole lease before its effect, unless somebody else has decided about its key.
import { createIdempotency, type Idempotency } from '@gatewright/idempotency-store'
import type { Claim } from '#packages/idempotency-store/dist/execution/claim.js'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { Fault } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { response, stillTimer, write, start } from './support.ts'

const LEASE_MS = 60_000

/** Two processes over one store, which can be broken, with its calls counted. */
function setUp() {
  const clock = manualClock()
  const inner = memoryIdempotency()
  const seen = { calls: 0, fails: false }
  const counted = async <T>(call: () => Promise<T>): Promise<T> => {
    seen.calls += 1
    if (seen.fails) throw new Fault('ERR_STORE_UNAVAILABLE', 'down')
    return call()
  }
  const storage: typeof inner = {
    ...inner,
    begin: (...args) => counted(() => inner.begin(...args)),
    end: (...args) => counted(() => inner.end(...args)),
    extend: (...args) => counted(() => inner.extend(...args)),
    takeOver: (...args) => counted(() => inner.takeOver(...args)),
  }
  const make = (waitMs: number): Idempotency =>
    createIdempotency({
      storage,
      waitMs,
      clock,
      timer: stillTimer,
      recover: async () => ({ state: 'never_happened' }),
    })
  return { clock, seen, here: make(5000), elsewhere: make(0) }
}

t.test('keeps a claim of which at most a quarter is used, without asking the store', async t => {
  const { here, clock, seen } = setUp()
  const claim = await start(here)
  for (const ms of [0, LEASE_MS / 4]) {
    clock.advance(ms)
    t.equal(await here.renew(claim), claim, `${ms} ms`)
  }
  t.equal(seen.calls, 1)
})

t.test(
  'gives a whole lease to a claim of which more is used, and from its end on a larger fence',
  async t => {
    for (const ms of [LEASE_MS / 4 + 1, LEASE_MS - 1, LEASE_MS, 10 * LEASE_MS]) {
      const { here, elsewhere, clock } = setUp()
      const claim = await start(here)
      clock.advance(ms)
      const renewed = (await here.renew(claim)) as Claim
      t.equal(renewed.leaseUntil, clock.now() + LEASE_MS, `${ms} ms`)
      t.equal(renewed.fence > claim.fence, ms >= LEASE_MS)
      t.same([renewed.effectId, renewed.storageKey], [claim.effectId, claim.storageKey])
      clock.advance(LEASE_MS - 1)
      t.match(
        await elsewhere.begin(write()),
        { code: 'request_in_progress' },
        'it is running until the new end',
      )
      if (ms >= LEASE_MS)
        t.match(await here.complete(claim, response(201)), { state: 'late' }, 'the old claim ends nothing')
      t.match(await here.complete(renewed, response(201)), { state: 'stored' })
    }
  },
)

t.test('reports to a run that another has decided about its key', async t => {
  const { here, elsewhere, clock } = setUp()
  const claim = await start(here)
  clock.advance(LEASE_MS)
  const other = await start(elsewhere)
  t.equal(await here.renew(claim), undefined)
  t.match(await elsewhere.complete(other, response(201)), { state: 'stored' })
  t.equal(await here.renew(claim), undefined)
  t.match(await here.begin(write()), { ok: true, value: { state: 'replay' } })
  t.equal(await here.drained(), 0)
})

t.test('duplicates in the process go on waiting for a renewed run, and get its response', async t => {
  const { here, clock, seen } = setUp()
  const claim = await start(here)
  clock.advance(LEASE_MS / 2)
  const before = here.begin(write())
  const renewed = (await here.renew(claim)) as Claim
  clock.advance(LEASE_MS - 1)
  const after = here.begin(write())
  t.equal(seen.calls, 2, 'no duplicate asked the store')
  await here.complete(renewed, response(201))
  for (const duplicate of [before, after])
    t.match(await duplicate, { ok: true, value: { state: 'replay', response: response(201) } })
})

t.test('throws the fault of the store, and lets duplicates ask it', async t => {
  const { here, clock, seen } = setUp()
  const claim = await start(here)
  clock.advance(LEASE_MS)
  seen.fails = true
  await t.rejects(here.renew(claim), { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' })
  seen.fails = false
  t.equal(await here.drained(), 0)
  t.match(await here.begin(write()), { ok: true, value: { state: 'started' } })
})
