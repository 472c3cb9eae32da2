import { createIdempotency, type RecoveryResult } from '@gatewright/idempotency-store'
import type { IdempotencyBaseOptions } from '#packages/idempotency-store/dist/options.js'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { openSqlite } from '../harness/stores.ts'
import { response, write } from './support.ts'

async function setUp(t: Test, options: IdempotencyBaseOptions = {}) {
  const { connections, close } = await openSqlite(1, migrateIdempotency)
  t.teardown(close)
  const db = connections[0] as SqlClient
  await rows(db, 'create table effects (effect_id text not null)')
  const idempotency = createTransactionalIdempotency({ db, storage: tx => sqliteIdempotency(tx), ...options })
  const effects = async (): Promise<number> =>
    toInteger((await rows(db, 'select count(*) as n from effects'))[0]?.['n'])
  const effect = async (tx: SqlQueries, effectId: string): Promise<void> => {
    await rows(tx, 'insert into effects (effect_id) values ($1)', [effectId])
  }
  return { db, idempotency, effects, effect }
}

t.test('runs one of 30 simultaneous duplicates and replays its response to 29', async t => {
  const { idempotency, effects, effect } = await setUp(t)
  const results = await Promise.all(
    Array.from({ length: 30 }, () =>
      idempotency.run(write(), async (tx, { effectId }) => {
        await effect(tx, effectId)
        return response(201)
      }),
    ),
  )
  t.equal(results.filter(result => result.ok && !result.value.replayed).length, 1)
  t.equal(results.filter(result => result.ok && result.value.replayed).length, 29)
  for (const result of results) t.match(result, { ok: true, value: { response: response(201) } })
  t.equal(await effects(), 1)
  const effectIds = results.map(result => result.ok && result.value.effectId)
  t.equal(new Set(effectIds).size, 1)
  t.type(effectIds[0], 'string')
})

t.test('rolls back when the response is not final, and runs again on the next request', async t => {
  const { idempotency, effects, effect } = await setUp(t)
  for (const status of [400, 401, 402, 403, 429, 500, 503]) {
    const result = await idempotency.run(write(), async (tx, { effectId }) => {
      await effect(tx, effectId)
      return response(status)
    })
    t.match(result, { ok: true, value: { response: response(status), replayed: false, expiresAt: null } })
    t.equal(await effects(), 0)
  }
  t.match(await idempotency.run(write(), async () => response(201)), { value: { replayed: false } })
})

t.test('commits a definitive denial, with the rows of the handler', async t => {
  const { idempotency, effects, effect } = await setUp(t)
  const complete409 = () =>
    idempotency.run(write(), async (tx, { effectId }) => {
      await effect(tx, effectId)
      return response(409)
    })
  t.match(await complete409(), { value: { response: response(409), replayed: false } })
  t.match(await complete409(), { value: { response: response(409), replayed: true } })
  t.equal(await effects(), 1)
})

t.test('rolls back and rethrows an error of the handler, and runs again on the next request', async t => {
  const { idempotency, effects, effect } = await setUp(t)
  const failing = idempotency.run(write(), async (tx, { effectId }) => {
    await effect(tx, effectId)
    throw new Error('no plan of that name')
  })
  await t.rejects(failing, { message: 'no plan of that name' })
  t.equal(await effects(), 0)
  t.match(await idempotency.run(write(), async () => response(201)), { value: { replayed: false } })
})

t.test('denies the key with another payload', async t => {
  const { idempotency } = await setUp(t)
  await idempotency.run(write(), async () => response(201))
  const other = await idempotency.run(write({ text: '{}' }), async () => response(201))
  t.match(other, { code: 'idempotency_key_reused', status: 400 })
})

t.test('throws a fault when the handler uses the database outside its transaction', async t => {
  const { db, idempotency, effects, effect } = await setUp(t)
  const misuses = [
    () => effect(db, 'outside'),
    () => rows(db, 'select 1'),
    () => db.transaction(tx => effect(tx, 'outside')),
    () => idempotency.run(write({ key: 'another-key' }), async () => response(201)),
  ]
  for (const misuse of misuses) {
    const run = idempotency.run(write(), async () => {
      await misuse()
      return response(201)
    })
    await t.rejects(run, { name: 'Fault', code: 'ERR_OUTSIDE_TRANSACTION' })
  }
  t.equal(await effects(), 0)
})

t.test('lets promises that the handler left behind use the database after the transaction', async t => {
  const { db, idempotency } = await setUp(t)
  let later: Promise<unknown> | undefined
  await idempotency.run(write(), async () => {
    later = new Promise(resolve => setTimeout(resolve, 1)).then(() => rows(db, 'select 1'))
    return response(201)
  })
  await t.resolves(later as Promise<unknown>)
})

t.test('reports a run that was lost in two phases as outcome_unknown, and recovers it', async t => {
  const clock = manualClock()
  let recovered: RecoveryResult = { state: 'unknown' }
  const { db, idempotency, effects, effect } = await setUp(t, { clock, recover: async () => recovered })
  const twoPhase = createIdempotency({ storage: sqliteIdempotency(db), clock })
  await twoPhase.begin(write())
  clock.advance(60_000)
  const run = () =>
    idempotency.run(write(), async (tx, { effectId }) => {
      await effect(tx, effectId)
      return response(201)
    })
  t.match(await run(), { code: 'outcome_unknown', status: 503 })
  t.equal(await effects(), 0)
  recovered = { state: 'never_happened' }
  t.match(await run(), { ok: true, value: { replayed: false } })
  t.equal(await effects(), 1)
})

t.test('asks by a read whether prepare may run, and begins one run for one request', async t => {
  const { db } = await setUp(t)
  const calls: string[] = []
  const storage = (tx: SqlQueries) => {
    const records = sqliteIdempotency(tx)
    const begin: typeof records.begin = (...given) => {
      calls.push('begin')
      return records.begin(...given)
    }
    return { ...records, begin }
  }
  const { run } = createTransactionalIdempotency({ db, storage })
  const prepare = async (): Promise<void> => {
    calls.push('prepare')
  }
  const handler = async () => {
    calls.push('handler')
    return response(201)
  }
  t.match(await run(write(), handler, prepare), { value: { replayed: false } })
  t.same(calls, ['prepare', 'begin', 'handler'])
})
