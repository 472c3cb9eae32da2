import { createIdempotency, type IdempotencyStorage } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { Fault } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openSqlite } from '../../harness/stores.ts'
import { instantTimer, response, stillTimer, write, start } from '../support.ts'

const LEASE_MS = 60_000

/** A store whose begins are counted. */
function counting(inner: IdempotencyStorage = memoryIdempotency()): IdempotencyStorage & { begins: number } {
  const storage = {
    ...inner,
    begins: 0,
    begin: ((...args) => {
      storage.begins++
      return inner.begin(...args)
    }) as typeof inner.begin,
  }
  return storage
}

t.test('asks the store once for a response, and replays it from memory afterwards', async t => {
  const storage = counting()
  const idempotency = createIdempotency({ storage })
  await idempotency.complete(await start(idempotency), response(201))
  for (const begins of [2, 2]) {
    t.match(await idempotency.begin(write()), { value: { state: 'replay' } })
    t.equal(storage.begins, begins)
  }
})

t.test('asks the store once for a response of another process, and gives it to all that wait', async t => {
  const storage = counting()
  const elsewhere = createIdempotency({ storage })
  await elsewhere.complete(await start(elsewhere), response(201))
  const here = createIdempotency({ storage, timer: stillTimer })
  const { begins } = storage
  const results = await Promise.all(Array.from({ length: 5 }, () => here.begin(write())))
  for (const result of results) t.match(result, { value: { state: 'replay', response: response(201) } })
  t.equal(storage.begins, begins + 1)
})

t.test('waits for the last millisecond of waitMs, and not without one', async t => {
  for (const [waitMs, expected] of [
    [1, { ok: true, value: { state: 'replay' } }],
    [0, { ok: false, code: 'request_in_progress' }],
  ] as const) {
    const idempotency = createIdempotency({ storage: memoryIdempotency(), timer: stillTimer, waitMs })
    const claim = await start(idempotency)
    const duplicate = idempotency.begin(write())
    await idempotency.complete(claim, response(201))
    t.match(await duplicate, expected, `${waitMs} ms`)
  }
})

t.test('a request that has waited gives its place to the next one', async t => {
  const timer = instantTimer()
  const idempotency = createIdempotency({ storage: memoryIdempotency(), timer, maxWaiters: 1, waitMs: 1000 })
  const claim = await start(idempotency)
  t.match(await idempotency.begin(write()), { code: 'request_in_progress' })
  const next = idempotency.begin(write())
  await idempotency.complete(claim, response(201))
  t.match(await next, { ok: true, value: { state: 'replay' } })
})

t.test(
  'gives duplicates the response of a run in one transaction, and starts one after a rollback',
  async t => {
    const { connections, close } = await openSqlite(1, migrateIdempotency)
    t.teardown(close)
    const [db] = connections as [(typeof connections)[number]]
    const { run, drained } = createTransactionalIdempotency({ db, storage: tx => sqliteIdempotency(tx) })
    const results = await Promise.all(
      [503, 201, 202].map(status => run(write(), async () => response(status))),
    )
    t.match(results, [
      { value: { response: response(503), replayed: false } },
      { value: { response: response(201), replayed: false } },
      { value: { response: response(201), replayed: true } },
    ])
    t.equal(await drained(), 0)
  },
)

t.test('asks the store again only when the recovered ending is stored', async t => {
  for (const [recovered, expected] of [
    [{ state: 'never_happened' }, { state: 'started' }],
    [{ state: 'completed', response: response(201) }, { state: 'replay' }],
  ] as const) {
    const clock = manualClock()
    const inner = memoryIdempotency()
    const storage: IdempotencyStorage = {
      ...inner,
      async end(...args) {
        await new Promise(resolve => setImmediate(resolve))
        return inner.end(...args)
      },
    }
    const idempotency = createIdempotency({ storage, clock, recover: async () => recovered })
    await start(idempotency)
    clock.advance(LEASE_MS)
    t.match(await idempotency.begin(write()), { ok: true, value: expected }, recovered.state)
  }
})

t.test('advises to retry an unknown outcome after 5 s, and asks the store for it once', async t => {
  const clock = manualClock()
  const storage = counting()
  const idempotency = createIdempotency({ storage, clock, recover: async () => ({ state: 'unknown' }) })
  await start(idempotency)
  clock.advance(LEASE_MS)
  t.match(await idempotency.begin(write()), { code: 'outcome_unknown', retryAfterSeconds: 5 })
  t.equal(storage.begins, 2)
})

t.test('tries an ending again only after the delay', async t => {
  const inner = memoryIdempotency()
  let tries = 0
  let wake = (): void => {}
  const timer = { now: () => 0, sleep: () => new Promise<void>(resolve => (wake = resolve)) }
  const end: typeof inner.end = async (...args) => {
    if (tries++ === 0) throw new Fault('ERR_STORE_UNAVAILABLE', 'cut')
    return inner.end(...args)
  }
  const idempotency = createIdempotency({ storage: { ...inner, end }, timer })
  const completion = idempotency.complete(await start(idempotency), response(201))
  await new Promise(resolve => setImmediate(resolve))
  t.equal(tries, 1)
  wake()
  t.match(await completion, { state: 'stored' })
})
