import type { IdempotencyBaseOptions } from '#packages/idempotency-store/dist/options.js'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { migrateIdempotency, postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import { Fault } from '@gatewright/kernel'
import { fromPgPool, rows, type SqlQueries, type SqlTransaction, type SqlValue } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { faultProxy, manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { randomCases } from '../harness/random-cases.ts'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { response, write } from './support.ts'
import { CONTROLLING_TEXTS, SINGLE_STATEMENTS } from './transaction-texts.ts'

/** Hosts of one database, each with a pool of its own. */
async function setUp(t: Test, hosts: number, poolSize: number, options: IdempotencyBaseOptions = {}) {
  const schema = uniqueName()
  const setUpPool = await openPostgresPool(schema, 1)
  const pools = await Promise.all(Array.from({ length: hosts }, () => openPostgresPool(schema, poolSize)))
  t.teardown(async () => {
    await Promise.all(pools.map(pool => pool.end()))
    await setUpPool.query(`drop schema ${schema} cascade`)
    await setUpPool.end()
  })
  const admin = fromPgPool(setUpPool)
  await migrateIdempotency(admin)
  await rows(admin, 'create table effects (effect_id text primary key, fence bigint not null)')
  const made = pools.map(pool => {
    const db = fromPgPool(pool)
    return {
      db,
      pool,
      ...createTransactionalIdempotency({
        db,
        storage: tx => postgresTransactionalIdempotency(tx),
        ...options,
      }),
    }
  })
  const effects = async (): Promise<number> =>
    toInteger((await rows(admin, 'select count(*) as n from effects'))[0]?.['n'])
  return { hosts: made, host: made[0]!, effects, schema }
}

const effect = async (tx: SqlQueries, run: { effectId: string; fence: number }) => {
  await rows(tx, 'insert into effects (effect_id, fence) values ($1, $2)', [run.effectId, run.fence])
  return response(201)
}

t.test('runs one of 30 simultaneous duplicates on 3 hosts, and replays its response to 29', async t => {
  const { hosts, effects } = await setUp(t, 3, 2)
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, index) => hosts[index % 3]!.run(write(), effect)),
  )
  t.equal(results.filter(result => result.ok && !result.value.replayed).length, 1)
  t.equal(results.filter(result => result.ok && result.value.replayed).length, 29)
  t.equal(await effects(), 1)
})

t.test('starts no run of a key that another transaction has just completed', async t => {
  const { hosts } = await setUp(t, 8, 1)
  const begins: string[] = []
  const rounds = randomCases(300)
  for (let round = 0; round < rounds; round++) {
    const key = `key-of-round-${round}`
    const beginUntilDone = async ({ db }: (typeof hosts)[number]): Promise<void> => {
      let state = ''
      while (state !== 'done') {
        state = await db.transaction(async tx => {
          const record = postgresTransactionalIdempotency(tx)
          const begun = await record.begin(key, 'fingerprint', 2000, 1000)
          if (begun.state !== 'started') return begun.state
          begins.push(key)
          const ending = { state: 'done', response: '{}', expiresAt: 9000 } as const
          if (!(await record.end(key, begun.fence, ending, 1000))) throw new Error('decided by another run')
          return 'done'
        })
      }
    }
    await Promise.allSettled(hosts.map(beginUntilDone))
  }
  t.equal(begins.length, rounds)
})

t.test('holds no connection while duplicates wait for another host', async t => {
  const { hosts, effects } = await setUp(t, 2, 1)
  const [first, second] = hosts
  let finish: () => void = () => {}
  const finished = new Promise<void>(resolve => {
    finish = resolve
  })
  let entered: () => void = () => {}
  const inside = new Promise<void>(resolve => {
    entered = resolve
  })
  const running = first!.run(write(), async (tx, run) => {
    entered()
    await finished
    return effect(tx, run)
  })
  await inside
  // The second host has one connection and three requests that wait; a fourth, unrelated one is served.
  const duplicates = Array.from({ length: 3 }, () => second!.run(write(), effect))
  const other = await second!.run(write({ key: 'another-key' }), effect)
  t.match(other, { ok: true, value: { replayed: false } })
  finish()
  t.match(await running, { ok: true, value: { replayed: false } })
  for (const duplicate of await Promise.all(duplicates)) {
    t.match(duplicate, { ok: true, value: { replayed: true } })
  }
  t.equal(await effects(), 2)
})

t.test('rolls back rows and record when the connection dies in the handler', async t => {
  const { host, effects } = await setUp(t, 1, 2)
  const dying = host.run(write(), async (tx, run) => {
    await effect(tx, run)
    const [backend] = await rows(tx, 'select pg_backend_pid() as pid')
    await host.pool.query('select pg_terminate_backend($1::integer)', [backend?.['pid']])
    return response(201)
  })
  await t.rejects(dying, { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' })
  t.equal(await effects(), 0)
  t.match(await host.run(write(), effect), { ok: true, value: { replayed: false } })
  t.equal(await effects(), 1)
})

for (const [harm, moved] of [
  ['cutBefore', 0],
  ['cutAfter', 1],
] as const) {
  t.test(`takes effect once when the last round trip is lost: ${harm}`, async t => {
    const { host, effects, schema } = await setUp(t, 1, 2)
    const proxy = await faultProxy(process.env['TEST_POSTGRES_URL'] as string)
    const pool = await openPostgresPool(schema, 1, proxy.url)
    t.teardown(() => pool.end().finally(() => proxy.close()))
    const cut = createTransactionalIdempotency({
      db: fromPgPool(pool),
      storage: tx => postgresTransactionalIdempotency(tx),
    })
    const dying = cut.run(write(), async (tx, run) => {
      const done = await effect(tx, run)
      proxy.harm = harm
      return done
    })
    await t.rejects(dying, { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' })
    t.match(await host.run(write(), effect), { ok: true, value: { replayed: moved === 1 } })
    t.equal(await effects(), 1)
  })
}

t.test('rolls back with a fault when a constraint fails at the commit', async t => {
  const { host, effects } = await setUp(t, 1, 1)
  await rows(host.db, 'create table payins (effect_id text references effects deferrable initially deferred)')
  const failing = host.run(write(), async tx => {
    await rows(tx, "insert into payins (effect_id) values ('nobody')")
    return response(201)
  })
  await t.rejects(failing, { code: 'ERR_STORE_UNAVAILABLE', cause: { code: '23503' } })
  t.match(await host.run(write(), effect), { ok: true, value: { replayed: false } })
  t.equal(await effects(), 1)
})

t.test('replaces an expired response, with a larger fence', async t => {
  const clock = manualClock()
  const { host, effects } = await setUp(t, 1, 1, { clock, maxCachedBytes: 0 })
  const fences: number[] = []
  const run = () =>
    host.run(write(), async (_tx, { fence }) => {
      fences.push(fence)
      return response(201, `"${fence}"`)
    })
  for (const replayed of [false, true]) t.match(await run(), { value: { replayed } })
  clock.advance(86_400_000)
  for (const replayed of [false, true]) {
    t.match(await run(), { value: { replayed, response: { body: `"${fences[1]}"` } } })
  }
  t.equal(fences.length, 2)
  t.ok(fences[1]! > fences[0]!)
  t.equal(await effects(), 0)
})

t.test('commits nothing when the handler swallows a failed statement', async t => {
  const { host, effects } = await setUp(t, 1, 2)
  const swallowing = host.run(write(), async (tx, run) => {
    await effect(tx, run)
    await tx.query('select * from no_such_table').catch(() => undefined)
    return response(201)
  })
  await t.rejects(swallowing, Fault)
  t.equal(await effects(), 0)
})

t.test('throws a fault when the handler uses the pool, or ends its transaction', async t => {
  const { host, effects } = await setUp(t, 1, 2)
  const misuses: ((tx: SqlQueries) => Promise<unknown>)[] = [
    () => rows(host.db, 'select 1'),
    () => host.db.transaction(tx => rows(tx, 'select 1')),
    () => host.run(write({ key: 'another-key' }), effect),
    ...CONTROLLING_TEXTS.map(text => (tx: SqlQueries) => tx.query(text)),
  ]
  for (const misuse of misuses) {
    const run = host.run(write(), async (tx, facts) => {
      await effect(tx, facts)
      await misuse(tx)
      return response(201)
    })
    await t.rejects(run, { name: 'Fault', code: 'ERR_OUTSIDE_TRANSACTION' })
  }
  t.equal(await effects(), 0)
})

t.test('allows a semicolon at the end, and in texts, names and comments', async t => {
  const { host, effects } = await setUp(t, 1, 1)
  const run = await host.run(write(), async (tx, facts) => {
    for (const text of SINGLE_STATEMENTS) await tx.query(text)
    return effect(tx, facts)
  })
  t.match(run, { ok: true, value: { replayed: false } })
  t.equal(await effects(), 1)
})

t.test('allows savepoints', async t => {
  const { host, effects } = await setUp(t, 1, 1)
  const run = await host.run(write(), async (tx, facts) => {
    await tx.query('savepoint before')
    await effect(tx, facts)
    await tx.query('rollback to savepoint before')
    return effect(tx, { ...facts, effectId: 'second' })
  })
  t.match(run, { ok: true, value: { replayed: false } })
  t.equal(await effects(), 1)
})

t.test('refuses statements on a transaction that has ended', async t => {
  const { host } = await setUp(t, 1, 1)
  let kept: SqlQueries | undefined
  await host.run(write(), async tx => {
    kept = tx
    return response(201)
  })
  await t.rejects((async () => kept?.query('select 1'))(), /the transaction has ended/)
})

t.test('works with a transaction object whose methods use this', async t => {
  const { host, effects } = await setUp(t, 1, 2)
  const { db } = host
  const wrapped = (inner: SqlTransaction) => ({
    inner,
    dialect: inner.dialect,
    query(text: string, values?: readonly SqlValue[]) {
      return this.inner.query(text, values)
    },
    commit(text: string, values?: readonly SqlValue[]) {
      const { commit = this.inner.query } = this.inner
      return commit(text, values)
    },
  })
  const { run } = createTransactionalIdempotency({
    db: {
      dialect: db.dialect,
      query: (text, values) => db.query(text, values),
      transaction: (work, options) => db.transaction(tx => work(wrapped(tx)), options),
    },
    storage: tx => postgresTransactionalIdempotency(tx),
  })
  t.match(await run(write(), effect), { ok: true })
  t.equal(await effects(), 1)
})
