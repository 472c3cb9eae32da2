import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { keyDigest } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { response, instantTimer, write, start } from './support.ts'

const LEASE_MS = 60_000
const DAY_MS = 86_400_000

function setUp(options: Partial<Parameters<typeof createIdempotency>[0]> = {}) {
  const clock = manualClock()
  const timer = instantTimer(clock)
  const storage = memoryIdempotency()
  const idempotency = createIdempotency({ storage, clock, timer, waitMs: 0, ...options })
  return { clock, timer, storage, idempotency }
}

t.test('starts one of 50 simultaneous writes, and denies the others as in progress', async t => {
  const { idempotency } = setUp()
  const results = await Promise.all(Array.from({ length: 50 }, () => idempotency.begin(write())))
  t.equal(results.filter(begun => begun.ok && begun.value.state === 'started').length, 1)
  const denied = results.filter(begun => !begun.ok)
  t.equal(denied.length, 49)
  for (const denial of denied) {
    t.match(denial, { code: 'request_in_progress', status: 429, retryAfterSeconds: 1 })
  }
})

t.test('a request that does not wait for a run is unharmed when the run fails', async t => {
  for (const limits of [{ waitMs: 0 }, { waitMs: 1000, maxWaiters: 0 }]) {
    const storage = memoryIdempotency()
    let fail = (_error: Error): void => {}
    const begin = () => new Promise<never>((_, reject) => (fail = reject))
    const { idempotency } = setUp({ storage: { ...storage, begin }, ...limits })
    const first = idempotency.begin(write())
    t.match(await idempotency.begin(write()), { code: 'request_in_progress' })
    fail(new Error('the store is down'))
    await t.rejects(first, { message: 'the store is down' })
    // An unhandled rejection fails this test in the next turn, and ends any other process.
    await new Promise(resolve => setImmediate(resolve))
  }
})

t.test('replays the first response to the same request for 24 hours', async t => {
  const { idempotency, clock } = setUp()
  const completion = await idempotency.complete(await start(idempotency), response(201))
  t.same(completion, { state: 'stored', expiresAt: clock.now() + DAY_MS })
  clock.advance(DAY_MS - 1)
  t.match(await idempotency.begin(write()), { ok: true, value: { state: 'replay', response: response(201) } })
  clock.advance(1)
  t.match(await idempotency.begin(write()), { ok: true, value: { state: 'started' } })
})

t.test('denies the key with another payload, another method or one changed byte', async t => {
  const { idempotency } = setUp()
  await idempotency.complete(await start(idempotency), response(201))
  for (const change of [
    { text: '{"amountCents":1000}' },
    { text: '{"amountCents":101}' },
    { method: 'PUT' },
  ]) {
    t.match(await idempotency.begin(write(change)), { code: 'idempotency_key_reused', status: 400 })
  }
})

t.test('separates the keys of two accounts and of two operations', async t => {
  const { idempotency } = setUp()
  await start(idempotency)
  t.ok(await start(idempotency, write({ account: 'account-2' })))
  t.ok(await start(idempotency, write({ operation: 'subscriptions.checkout' })))
  t.ok(await start(idempotency, write({ account: 'a","b', operation: 'c' })))
  t.ok(await start(idempotency, write({ account: 'a', operation: 'b","c' })))
})

t.test('places a record by the account that owns its key, whatever the label of the request is', async t => {
  const { idempotency } = setUp()
  const tenant = JSON.stringify(['acc_1', 'tenant'])
  const claims = [
    await start(idempotency, write({ account: 'acc_1', accountLabel: 'acc_2' })),
    await start(idempotency, write({ account: tenant, accountLabel: 'acc_1' })),
    await start(idempotency, write({ account: 'x'.repeat(65) })),
  ]
  t.same(
    claims.map(({ storageKey }) => storageKey.split('.')[1]),
    ['acc_1', keyDigest(tenant), keyDigest('x'.repeat(65))],
  )
  for (const accountLabel of ['acc_1', 'acc_3', undefined])
    t.match(await idempotency.begin(write({ account: 'acc_1', accountLabel })), {
      code: 'request_in_progress',
    })
})

t.test('separates accounts and operations of any text', async t => {
  const { idempotency } = setUp()
  const ends = ['', ' ', '\u0000', '\ud800', '\udfff', '\ufffd', 'é', 'e\u0301', 'K', 'k', 'x'.repeat(65_536)]
  const changes = [
    ...ends.map(end => ({ account: `a${end}`, operation: 'o' })),
    ...ends.slice(1).map(end => ({ account: 'a', operation: `${end}o` })),
  ]
  const names = new Set<string>()
  for (const change of changes) {
    const { storageKey, effectId } = await start(idempotency, write(change))
    t.match(storageKey, /^[\w-]{43}\.[\w-]{1,64}$/)
    names.add(storageKey).add(effectId)
  }
  t.equal(names.size, 2 * changes.length)
})

t.test(
  'reports a lost run as outcome_unknown from the end of its lease on, and never runs it again',
  async t => {
    const { idempotency, clock } = setUp()
    const claim = await start(idempotency)
    clock.advance(LEASE_MS - 1)
    t.match(await idempotency.begin(write()), { code: 'request_in_progress' })
    clock.advance(1)
    const lost = { code: 'outcome_unknown', status: 503, details: { operationId: claim.effectId } }
    t.match(await idempotency.begin(write()), lost)
    clock.advance(365 * DAY_MS)
    t.match(await idempotency.begin(write()), lost)
  },
)

t.test(
  'gives a run after a release a larger fence and the same effectId, and refuses completion by the first owner',
  async t => {
    const { idempotency } = setUp()
    const first = await start(idempotency)
    t.equal(await idempotency.release(first), true)
    const second = await start(idempotency)
    t.ok(second.fence > first.fence)
    t.equal(second.effectId, first.effectId)
    t.same(await idempotency.complete(first, response(201, '"late"')), { state: 'late' })
    t.equal(await idempotency.release(first), false)
    t.match(await idempotency.complete(second, response(201)), { state: 'stored' })
    t.match(await idempotency.begin(write()), { value: { response: response(201) } })
  },
)

t.test('calls recover for a lost run', async t => {
  await t.test('and replays the response that it returns', async t => {
    const { idempotency, clock } = setUp({
      recover: async lost => ({ state: 'completed', response: response(201, lost.effectId) }),
    })
    const { effectId } = await start(idempotency)
    clock.advance(LEASE_MS)
    const replay = { ok: true, value: { state: 'replay', response: response(201, effectId), effectId } }
    t.match(await idempotency.begin(write()), replay)
    t.match(await idempotency.begin(write()), replay)
  })
  await t.test(
    'and starts again when it never happened, and refuses completion by the first owner',
    async t => {
      const { idempotency, clock } = setUp({ recover: async () => ({ state: 'never_happened' }) })
      const first = await start(idempotency)
      clock.advance(LEASE_MS)
      const second = await start(idempotency)
      t.ok(second.fence > first.fence)
      t.same(await idempotency.complete(first, response(201)), { state: 'late' })
    },
  )
  await t.test('and stays unknown when it does not know', async t => {
    const { idempotency, clock } = setUp({ recover: async () => ({ state: 'unknown' }) })
    await start(idempotency)
    clock.advance(LEASE_MS)
    t.match(await idempotency.begin(write()), { code: 'outcome_unknown' })
  })
})
