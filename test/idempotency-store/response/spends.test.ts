import {
  createIdempotency,
  type Idempotency,
  type IdempotencyStorage,
  type StoredResponse,
} from '@gatewright/idempotency-store'
import type { RunOrReplay } from '#packages/idempotency-store/dist/idempotency.js'
import type { StoredSpend } from '#packages/idempotency-store/dist/response/stored-response.js'
import {
  createTransactionalIdempotency,
  type TransactionalIdempotency,
} from '@gatewright/idempotency-store/transactional'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import * as postgres from '@gatewright/idempotency-store/postgres'
import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import * as sqlite from '@gatewright/idempotency-store/sqlite'
import type { SqlClient } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { openPostgres, openRedis, openSqlite, uniqueName } from '../../harness/stores.ts'
import { response, stillTimer, write, start } from '../support.ts'

const SPENDS = [
  { amountCents: 1100, currency: 'USD' },
  { amountCents: 0, currency: 'EUR' },
]
const spent = (body?: string): StoredResponse => ({ ...response(201, body), spends: SPENDS })

/** Returns the response that a begin replays. */
async function replayOf(begin: ReturnType<Idempotency['begin']>): Promise<StoredResponse> {
  const begun = await begin
  if (!begun.ok || begun.value.state !== 'replay') throw new Error(`not replayed: ${JSON.stringify(begun)}`)
  return begun.value.response
}

/** Two hosts of one store: one stores the response, the other reads it. */
async function twoPhase(t: Test, [one, other]: readonly IdempotencyStorage[]): Promise<void> {
  const first = createIdempotency({ storage: one as IdempotencyStorage })
  const claim = await start(first)
  const waiter = first.begin(write())
  await first.complete(claim, spent())
  t.strictSame((await replayOf(waiter)).spends, SPENDS, 'for requests that wait in this process')
  const second = createIdempotency({ storage: other as IdempotencyStorage })
  for (const from of ['the store', 'the cache']) {
    const { spends, body } = await replayOf(second.begin(write()))
    t.strictSame({ spends, body }, { spends: SPENDS, body: spent().body }, `from ${from}`)
  }
}

t.test('replays the spends of a run in two phases, from every store', async t => {
  const memory = memoryIdempotency()
  await twoPhase(t, [memory, memory])
  const redis = await openRedis(2)
  t.teardown(() => redis.close())
  const prefix = uniqueName()
  await twoPhase(
    t,
    redis.connections.map(client => redisIdempotency(client, { prefix })),
  )
  const pool = await openPostgres(2, postgres.migrateIdempotency)
  t.teardown(() => pool.close())
  await twoPhase(
    t,
    pool.connections.map(db => postgres.postgresIdempotency(db)),
  )
  const file = await openSqlite(2, sqlite.migrateIdempotency)
  t.teardown(() => file.close())
  await twoPhase(
    t,
    file.connections.map(db => sqlite.sqliteIdempotency(db)),
  )
})

t.test('replays the spends of a run in one transaction', async t => {
  const pool = await openPostgres(2, postgres.migrateIdempotency)
  const file = await openSqlite(2, sqlite.migrateIdempotency)
  t.teardown(() => Promise.all([pool.close(), file.close()]))
  for (const [connections, storage] of [
    [pool.connections, postgres.postgresTransactionalIdempotency],
    [file.connections, sqlite.sqliteIdempotency],
  ] as const) {
    const hosts = connections.map(db => createTransactionalIdempotency({ db, storage: tx => storage(tx) }))
    const [one, other] = hosts as [TransactionalIdempotency, TransactionalIdempotency]
    const results = await Promise.all([1, 2].map(() => one.run(write(), async () => spent())))
    results.push(await other.run(write(), async () => response(500)))
    for (const result of results) t.match(result, { ok: true, value: { response: { spends: SPENDS } } })
  }
})

t.test('stores spends of any currency with any response, and reads both encodings', async t => {
  const hostile = fc.constantFrom('USD', 'EUR', '', ' ', '\n', '1 USD', '\ud800', '\0', 'USD+orders.pay')
  const operations = fc.array(fc.oneof(hostile, fc.constantFrom('orders.pay', 'x-1.y_2')), { minLength: 1 })
  const spend: fc.Arbitrary<StoredSpend> = fc
    .tuple(fc.maxSafeNat(), fc.oneof(hostile, fc.string()), fc.option(operations, { nil: undefined }))
    .map(([amountCents, currency, countsAs]) => ({ amountCents, currency, ...(countsAs && { countsAs }) }))
  const spends = fc.option(fc.array(spend, { minLength: 1, maxLength: 4 }), { nil: undefined })
  const body = fc.oneof(fc.constantFrom('', '{}', '\0', '\ud800', '\n', '1 USD'), fc.string())
  await fc.assert(
    fc.asyncProperty(spends, body, async (reserved, text) => {
      const storage = memoryIdempotency()
      const { begin, complete } = createIdempotency({ storage, waitMs: 0 })
      const begun = await begin(write())
      if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
      await complete(begun.value.claim, { ...response(201, text), ...(reserved && { spends: reserved }) })
      const replayed = await replayOf(begin(write()))
      t.strictSame(replayed, { ...(reserved && { spends: reserved }), ...response(201, text) })
    }),
    { numRuns: randomCases(300) },
  )
  const encodings = ['200 2\n\nok', '{"status":200,"headers":[],"body":"ok"}']
  for (const text of encodings) {
    const storage = {
      ...memoryIdempotency(),
      begin: async () => ({ state: 'done', response: text, expiresAt: 1 }),
    }
    const { begin } = createIdempotency({ storage: storage as never })
    t.strictSame(await replayOf(begin(write())), { status: 200, headers: [], body: 'ok' })
  }
})

t.test('encodes a response without spends as its status, length, header fields and body', async t => {
  for (const spends of [undefined, []]) {
    const storage = memoryIdempotency()
    let kept = ''
    const end: typeof storage.end = (key, fence, ending, now) => {
      if (ending.state === 'done') kept = ending.response
      return storage.end(key, fence, ending, now)
    }
    const idempotency = createIdempotency({ storage: { ...storage, end } })
    const given = { ...response(201, 'ok'), ...(spends && { spends }) }
    await idempotency.complete(await start(idempotency), given)
    t.equal(kept, '201 2\ncontent-type\napplication/json\n\nok')
  }
})

t.test(
  'throws a fault for stored spends that cannot be read, and a TypeError for malformed ones',
  async t => {
    const lines = [
      '200 2 1',
      '200 2 1 USD 2',
      '200 2 -1 USD',
      '200 2 1.5 USD',
      '200 2  1 USD',
      '200 2 9007199254740992 USD',
    ]
    const texts = lines.map(line => `${line}\n\nok`)
    for (const spends of [
      '{}',
      '[1]',
      '[null]',
      '[{"amountCents":"1","currency":"USD"}]',
      '[{"amountCents":1}]',
    ]) {
      texts.push(`{"status":200,"headers":[],"body":"ok","spends":${spends}}`)
    }
    for (const text of texts) {
      const storage = {
        ...memoryIdempotency(),
        begin: async () => ({ state: 'done', response: text, expiresAt: 1 }),
      }
      const { begin } = createIdempotency({ storage: storage as never })
      await t.rejects(begin(write()), { name: 'Fault', code: 'ERR_STORE_REPLY' }, text)
    }
    const idempotency = createIdempotency({ storage: memoryIdempotency() })
    const claim = await start(idempotency)
    const spends = [{ amountCents: 1.5, currency: 'USD' }]
    await t.rejects(idempotency.complete(claim, { ...response(201), spends }), TypeError)
  },
)

t.test(
  'leaves out an empty countsAs, and keeps one of any length, for waiting and later requests',
  async t => {
    const storage = memoryIdempotency()
    const first = createIdempotency({ storage })
    const claim = await start(first)
    const waiter = first.begin(write())
    const spend = { amountCents: 1, currency: 'USD' }
    const one = { ...spend, countsAs: ['orders.pay'] }
    const two = { ...spend, countsAs: ['orders.pay', 'cards.create'] }
    const spends = [{ ...spend, countsAs: [] }, one, two]
    await first.complete(claim, { ...response(201), spends })
    const later = createIdempotency({ storage }).begin(write())
    for (const replay of [waiter, later]) t.strictSame((await replayOf(replay)).spends, [spend, one, two])
  },
)

t.test('spends are not part of the fingerprint', async t => {
  const storage = memoryIdempotency()
  const idempotency = createIdempotency({ storage })
  await idempotency.complete(await start(idempotency), spent())
  t.strictSame((await replayOf(idempotency.begin(write()))).spends, SPENDS)
  t.match(await idempotency.begin(write({ text: '{}' })), { code: 'idempotency_key_reused' })
})

t.test('a recovered response has the spends of the lost run', async t => {
  const clock = manualClock()
  const recover = async () => ({ state: 'completed', response: spent() }) as const
  const idempotency = createIdempotency({ storage: memoryIdempotency(), clock, timer: stillTimer, recover })
  await start(idempotency)
  clock.advance(60_000)
  t.strictSame((await replayOf(idempotency.begin(write()))).spends, SPENDS)
  const wrong = { ...response(201), spends: [{ amountCents: -1, currency: 'USD' }] }
  const broken = createIdempotency({
    storage: memoryIdempotency(),
    clock,
    timer: stillTimer,
    recover: async () => ({ state: 'completed', response: wrong }),
  })
  await start(broken)
  clock.advance(60_000)
  await t.rejects(broken.begin(write()), { name: 'Fault' })
})

/** Ends a run that has reserved something, and returns what happened to the key. */
async function ended(status: number, { elapsedMs = 0, fails = false } = {}) {
  const clock = manualClock()
  const storage = memoryIdempotency()
  const seen: string[] = []
  const end: typeof storage.end = (key, fence, ending, now) => {
    seen.push(ending.state)
    return storage.end(key, fence, ending, now)
  }
  const idempotency = createIdempotency({ storage: { ...storage, end }, clock, waitMs: 0 })
  const claim = await start(idempotency)
  clock.advance(elapsedMs)
  const undo = async (): Promise<void> => {
    seen.push('undo')
    if (fails) throw new Error('the reservation cannot be released')
  }
  const completion = await idempotency.complete(claim, response(status), undo).catch(String)
  const next: RunOrReplay | string = await idempotency
    .begin(write())
    .then(begun => (begun.ok ? begun.value : begun.code))
  return { seen, completion, next: typeof next === 'string' ? next : next.state }
}

t.test('calls undo before a denial frees the key, and for no other ending', async t => {
  for (const status of [400, 403, 422]) {
    t.match(await ended(status), {
      seen: ['undo', 'free'],
      completion: { state: 'released' },
      next: 'started',
    })
  }
  for (const status of [201, 404, 409]) t.match(await ended(status), { seen: ['done'], next: 'replay' })
  for (const status of [500, 503]) t.match(await ended(status), { seen: ['lost'], next: 'outcome_unknown' })
})

t.test('the outcome is unknown if undo throws', async t => {
  const { seen, completion, next } = await ended(400, { fails: true })
  t.same(seen, ['undo', 'lost'])
  t.match(completion, /the reservation cannot be released/)
  t.equal(next, 'outcome_unknown')
})

t.test('does not call undo in the last quarter of the lease or later', async t => {
  t.match(await ended(400, { elapsedMs: 44_999 }), { seen: ['undo', 'free'], next: 'started' })
  for (const elapsedMs of [45_000, 59_999, 60_000, 86_400_000]) {
    t.match(await ended(400, { elapsedMs }), {
      seen: ['lost'],
      completion: { state: 'unknown' },
      next: 'outcome_unknown',
    })
  }
})

t.test('calls prepare once, outside the transaction, and not for a replay', async t => {
  const pool = await openPostgres(1, postgres.migrateIdempotency)
  const file = await openSqlite(1, sqlite.migrateIdempotency)
  t.teardown(() => Promise.all([pool.close(), file.close()]))
  for (const [connections, storage] of [
    [pool.connections, postgres.postgresTransactionalIdempotency],
    [file.connections, sqlite.sqliteIdempotency],
  ] as const) {
    const db = connections[0] as SqlClient
    const { run } = createTransactionalIdempotency({ db, storage: tx => storage(tx) })
    let prepared = 0
    const prepare = async (): Promise<void> => {
      prepared++
      await db.query('select 1')
    }
    const failing = run(
      write(),
      async () => response(201),
      async () => Promise.reject(new Error('no network')),
    )
    await t.rejects(failing, /no network/)
    const results = await Promise.all(
      [1, 2, 3].map(() => run(write(), async () => response(201, `${prepared}`), prepare)),
    )
    for (const result of results) t.match(result, { ok: true, value: { response: { body: '1' } } })
    await run(write(), async () => response(500), prepare)
    t.equal(prepared, 1)
    t.match(await run(write({ text: '{}' }), async () => response(201), prepare), {
      code: 'idempotency_key_reused',
    })
    t.equal(prepared, 1)
  }
})
