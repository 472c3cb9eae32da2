// A run whose process is alive keeps its lease, up to a maximum. One that is killed or frozen loses it.
import { createIdempotency } from '@gatewright/idempotency-store'
import type { Claim } from '#packages/idempotency-store/dist/execution/claim.js'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { Fault } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { manualTimer, response, stillTimer, write, start } from '../support.ts'

const LEASE_MS = 3000
const MAX_RUN_MS = 10_000

function setUp() {
  const clock = manualClock()
  const timer = manualTimer(clock)
  const inner = memoryIdempotency()
  const seen = { extensions: 0, failures: 0 }
  const storage: typeof inner = {
    ...inner,
    async extend(...args) {
      seen.extensions++
      if (seen.failures-- > 0) throw new Fault('ERR_STORE_UNAVAILABLE', 'down')
      return inner.extend(...args)
    },
  }
  const base = { storage, clock, leaseMs: LEASE_MS, waitMs: 0 }
  const here = createIdempotency({ ...base, timer, maxRunMs: MAX_RUN_MS })
  const elsewhere = createIdempotency({ ...base, timer: stillTimer })
  return { clock, timer, seen, inner, here, elsewhere }
}

t.test('a run keeps its lease while its process is alive, and is lost exactly at the maximum', async t => {
  const { timer, here, elsewhere } = setUp()
  await start(here)
  for (let ms = 0; ms < MAX_RUN_MS - 500; ms += 500) {
    t.match(await elsewhere.begin(write()), { code: 'request_in_progress' }, `${ms} ms`)
    await timer.advance(500)
  }
  await timer.advance(499)
  t.match(await elsewhere.begin(write()), { code: 'request_in_progress' })
  await timer.advance(1)
  t.match(await elsewhere.begin(write()), { code: 'outcome_unknown' })
  t.equal(timer.sleeping(), 0, 'nothing is extended any more')
})

t.test('stores the response of a long run, and stops extending it at once', async t => {
  const { timer, seen, here, elsewhere } = setUp()
  const claim = await start(here)
  await timer.advance(MAX_RUN_MS - 1)
  t.match(await here.complete(claim, response(201)), { state: 'stored' })
  t.equal(timer.sleeping(), 0)
  const { extensions } = seen
  await timer.advance(MAX_RUN_MS)
  t.equal(seen.extensions, extensions)
  t.match(await elsewhere.begin(write()), { value: { state: 'replay' } })
})

t.test('a process that freezes after a beat has lost the run a lease later, not at the maximum', async t => {
  const { clock, timer, here, elsewhere } = setUp()
  await start(here)
  await timer.advance(LEASE_MS / 3)
  clock.advance(LEASE_MS - 1)
  t.match(await elsewhere.begin(write()), { code: 'request_in_progress' })
  clock.advance(1)
  t.match(await elsewhere.begin(write()), { code: 'outcome_unknown' })
})

t.test('a process that freezes past its lease has lost the run, and does not take it back', async t => {
  const { clock, timer, here, elsewhere, seen, inner } = setUp()
  const { storageKey, fence } = await start(here)
  // Its clock goes on, its timers do not fire.
  clock.advance(LEASE_MS)
  t.match(await elsewhere.begin(write()), { code: 'outcome_unknown' })
  await timer.advance(LEASE_MS / 3)
  t.equal(seen.extensions, 1)
  t.equal(timer.sleeping(), 0, 'it does not try again')
  t.match(await elsewhere.begin(write()), { code: 'outcome_unknown' })
  t.ok(await inner.end(storageKey, fence, { state: 'free', expiresAt: clock.now() + 60_000 }, clock.now()))
})

t.test('a run that was renewed after the end of its lease is extended again', async t => {
  for (const first of ['nothing', 'a beat', 'another write'] as const) {
    const { clock, timer, here, elsewhere } = setUp()
    const claim = await start(here)
    clock.advance(LEASE_MS)
    if (first === 'a beat') await timer.advance(LEASE_MS / 3)
    if (first === 'another write') {
      const other = await here.begin(write({ key: 'another-key' }))
      if (other.ok && other.value.state === 'started') await here.complete(other.value.claim, response(201))
    }
    const renewed = (await here.renew(claim)) as Claim
    t.ok(renewed.fence > claim.fence)
    await timer.advance(2 * LEASE_MS)
    t.match(await elsewhere.begin(write()), { code: 'request_in_progress' }, `first ${first}`)
    t.match(await here.complete(renewed, response(201)), { state: 'stored' })
    t.equal(await here.drained(), 0)
    await timer.advance(LEASE_MS)
    t.equal(timer.sleeping(), 0)
  }
})

t.test('a renewal within the lease adds no beats to those of the run', async t => {
  const { timer, seen, here } = setUp()
  const claim = await start(here)
  t.equal((await here.renew(claim))?.fence, claim.fence)
  t.equal(timer.sleeping(), 1)
  const { extensions } = seen
  await timer.advance(LEASE_MS)
  t.equal(seen.extensions, extensions + 3)
})

t.test('a run that cannot be renewed has ended in its process', async t => {
  const { clock, timer, here, elsewhere, inner } = setUp()
  const claim = await start(here)
  clock.advance(LEASE_MS)
  await elsewhere.begin(write())
  const { storageKey, fence } = claim
  await inner.end(storageKey, fence, { state: 'free', expiresAt: clock.now() + 60_000 }, clock.now())
  t.equal(await here.renew(claim), undefined)
  const drained = here.drained(1)
  await timer.advance(1)
  t.equal(await drained, 0)
})

t.test('goes on extending a lease after the clock was set back', async t => {
  const { clock, timer, here, elsewhere } = setUp()
  const claim = await start(here)
  await timer.advance(LEASE_MS / 3)
  clock.advance(-2000)
  for (let ms = 0; ms < 2 * LEASE_MS; ms += 500) {
    await timer.advance(500)
    t.match(await elsewhere.begin(write()), { code: 'request_in_progress' }, `${ms} ms`)
  }
  t.match(await here.complete(claim, response(201)), { state: 'stored' })
})

t.test('asks the store for no lease that ends when the present one does', async t => {
  const { clock, timer, seen, here } = setUp()
  const claim = await start(here)
  await timer.advance(LEASE_MS / 3)
  t.equal(seen.extensions, 1)
  // By the next beat the clock shows again what it showed at the first one.
  clock.advance(-LEASE_MS / 3)
  await timer.advance(LEASE_MS / 3)
  t.equal(seen.extensions, 1)
  await timer.advance(LEASE_MS / 3)
  t.equal(seen.extensions, 2)
  t.match(await here.complete(claim, response(201)), { state: 'stored' })
})

t.test('an extension that fails is repeated at the next beat', async t => {
  const { timer, seen, here, elsewhere } = setUp()
  await start(here)
  seen.failures = 2
  await timer.advance(LEASE_MS)
  t.match(
    await elsewhere.begin(write()),
    { code: 'outcome_unknown' },
    'two of three beats failed, the third was too late',
  )
  const second = setUp()
  await start(second.here)
  second.seen.failures = 1
  await second.timer.advance(LEASE_MS + 500)
  t.match(await second.elsewhere.begin(write()), { code: 'request_in_progress' })
})

t.test('duplicates in the process wait for a run beyond its first lease', async t => {
  const clock = manualClock()
  const timer = manualTimer(clock)
  const storage = memoryIdempotency()
  const here = createIdempotency({
    storage,
    clock,
    timer,
    leaseMs: LEASE_MS,
    maxRunMs: MAX_RUN_MS,
    waitMs: 9000,
  })
  const claim = await start(here)
  await timer.advance(LEASE_MS + 1000)
  const duplicate = here.begin(write())
  await timer.advance(1000)
  await here.complete(claim, response(201))
  t.match(await duplicate, { value: { state: 'replay', response: response(201) } })
})

t.test('the undo of a denial may take place beyond the first lease', async t => {
  const { timer, here } = setUp()
  const claim = await start(here)
  await timer.advance(2 * LEASE_MS)
  let undone = false
  const undo = async (mayUndo: () => boolean): Promise<void> => {
    undone = mayUndo()
  }
  t.match(await here.complete(claim, response(422), undo), { state: 'released' })
  t.ok(undone)
})

t.test(
  'extends nothing without the option, and refuses a maximum below the lease or above 7 days',
  async t => {
    const { elsewhere, timer, seen, clock } = setUp()
    await start(elsewhere)
    await timer.advance(LEASE_MS)
    t.equal(seen.extensions, 0)
    const storage = memoryIdempotency()
    for (const maxRunMs of [LEASE_MS - 1, 604_800_001, 1.5])
      t.throws(() => createIdempotency({ storage, clock, leaseMs: LEASE_MS, maxRunMs }), /maxRunMs/)
  },
)

t.test('waits for long runs before the process exits', async t => {
  const { timer, here } = setUp()
  const claim = await start(here)
  const drained = here.drained()
  await timer.advance(2 * LEASE_MS)
  await here.complete(claim, response(201))
  t.equal(await drained, 0)
})
