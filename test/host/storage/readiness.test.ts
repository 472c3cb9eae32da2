import { migrateKit, OperatorWarning } from '@gatewright/host/internal'
import { Fault } from '@gatewright/kernel'
import { fromPgPool, rows, type SqlClient } from '@gatewright/kernel/sql'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openPostgresPool, openPostgres, openSqlite, uniqueName } from '../../harness/stores.ts'
import { createReadiness } from '#packages/host/dist/storage/readiness.js'
import { collectHeartbeats } from '#packages/host/dist/storage/heartbeat.js'

type Backend = import('../../../packages/host/dist/storage/backend.js').Backend
type Readiness = ReturnType<typeof createReadiness>

interface Opened {
  readonly readiness: Readiness
  readonly clock: ManualClock
  readonly reported: Error[]
  /** Checks again: the last result is no longer shared. */
  next(): ReturnType<Readiness['check']>
}

function readinessOf(db: SqlClient, checks: Backend['checks'] = {}): Opened {
  const clock = manualClock(Date.now())
  const reported: Error[] = []
  const report = (error: unknown): void => void reported.push(error as Error)
  const readiness = createReadiness({ backend: { sql: db, checks }, clock, report })
  return {
    readiness,
    clock,
    reported,
    next: () => {
      clock.advance(1000)
      return readiness.check()
    },
  }
}

async function migrated(t: Test, open: typeof openPostgres | typeof openSqlite): Promise<SqlClient> {
  const { connections, close } = await open(1, migrateKit)
  t.teardown(close)
  return connections[0] as SqlClient
}

t.test('names what it has checked: on Postgres the clock too', async t => {
  const all = { database: 'ok', disk: 'ok', files: 'ok', history: 'ok', tables: 'ok' }
  const postgres = readinessOf(await migrated(t, openPostgres), { redis: async () => {} })
  t.match(await postgres.readiness.check(), {
    ready: true,
    dependencies: { ...all, clock: 'ok', redis: 'ok' },
    stores: [
      { name: 'database', ok: true, ms: Number },
      { name: 'redis', ok: true, ms: Number },
    ],
  })
  const sqlite = readinessOf(await migrated(t, openSqlite))
  t.same((await sqlite.readiness.check()).dependencies, all)
  t.same([...postgres.reported, ...sqlite.reported], [])
})

t.test('reports each change of a dependency once, with its cause', async t => {
  let failure: Error | undefined = new Error('the first cause')
  const redis = async (): Promise<void> => {
    if (failure) throw new Fault('ERR_STORE_UNAVAILABLE', 'redis failed', { cause: failure })
  }
  const { readiness, reported, next } = readinessOf(await migrated(t, openSqlite), { redis })
  t.match(await readiness.check(), { ready: true, dependencies: { redis: 'down', database: 'ok' } })
  failure = new Error('another cause')
  await next()
  failure = undefined
  t.match(await next(), { ready: true, dependencies: { redis: 'ok' } })
  await next()
  t.same(
    reported.map(({ message }) => message.replace(/\d+ s$/, 'N s')),
    ['redis: the first cause', 'redis works again after N s'],
  )
  t.ok(reported.every(error => error instanceof OperatorWarning))
})

t.test('names the class of a cause that has no message and no code', async t => {
  class TimeoutError extends Error {}
  const redis = () => Promise.reject(new Fault('ERR_STORE_UNAVAILABLE', 'x', { cause: new TimeoutError() }))
  const { readiness, reported } = readinessOf(await migrated(t, openSqlite), { redis })
  await readiness.check()
  t.match(reported, [{ message: 'redis: TimeoutError' }])
})

t.test(
  'is not ready on a database that takes no writes, and leaves out what only its replies show',
  async t => {
    const schema = uniqueName()
    const admin = await openPostgresPool(schema, 1)
    const url = new URL(process.env['TEST_POSTGRES_URL'] as string)
    url.searchParams.set('options', `-c search_path=${schema} -c default_transaction_read_only=on`)
    const pool = new pg.Pool({ connectionString: url.href })
    t.teardown(async () => {
      await pool.end()
      await admin.query(`drop schema ${schema} cascade`)
      await admin.end()
    })
    await migrateKit(fromPgPool(admin))
    const { readiness, reported } = readinessOf(fromPgPool(pool))
    const { ready, dependencies } = await readiness.check()
    t.equal(ready, false)
    t.same(dependencies, { database: 'down', disk: 'ok', files: 'ok' })
    t.match(reported, [
      { message: 'not ready, database: it takes no writes: default_transaction_read_only is on' },
    ])
    t.equal(await readiness.mayDeleteByTime(), false)
  },
)

t.test('is not ready while the clock is more than 2 s off that of Postgres', async t => {
  const { reported, readiness, next } = readinessOf(await migrated(t, openPostgres))
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  for (const [offMs, state] of [
    [1000, 'ok'],
    [3000, 'down'],
    [-3000, 'down'],
    [0, 'ok'],
  ] as const) {
    Date.now = () => now() + offMs
    t.match(
      await next(),
      { ready: state === 'ok', dependencies: { clock: state, database: 'ok' } },
      `${offMs}`,
    )
    t.equal(await readiness.mayDeleteByTime(), state === 'ok')
  }
  t.match(reported, [{ message: /^not ready, clock: this host's clock is \d+ ms off its database's$/ }, {}])
})

t.test('responds while a store is frozen that the host goes on without', async t => {
  const { readiness } = readinessOf(await migrated(t, openSqlite), { redis: () => new Promise(() => {}) })
  t.match(await readiness.check(), { ready: true, dependencies: { redis: 'down' } })
})

t.test(
  'writes no heartbeat by a clock that is off: other hosts would delete it, and all would see a loss',
  async t => {
    const db = await migrated(t, openPostgres)
    const { clock, reported, next } = readinessOf(db)
    const { now } = Date
    t.teardown(() => {
      Date.now = now
    })
    const monthMs = 30 * 86_400_000
    Date.now = () => now() - monthMs
    clock.advance(-monthMs)
    t.match(await next(), { ready: false, dependencies: { clock: 'down', history: 'ok' } })
    await collectHeartbeats(db, 10, now())
    t.match(await next(), { ready: false, dependencies: { clock: 'down', history: 'ok' } })
    Date.now = now
    clock.advance(monthMs)
    t.match(await next(), { ready: true, dependencies: { clock: 'ok', history: 'ok' } })
    t.equal(reported.length, 2)
  },
)

for (const open of [openSqlite, openPostgres])
  t.test(`${open.name}: is not ready after a loss of history until it is accepted`, async t => {
    const db = await migrated(t, open)
    const { readiness, reported, next } = readinessOf(db)
    const other = readinessOf(db)
    t.match(await readiness.check(), { ready: true })
    await rows(db, 'delete from gw_heartbeats')
    for (const { check } of [{ check: next }, { check: other.next }, { check: next }])
      t.match(await check(), { ready: false, dependencies: { history: 'down', database: 'ok' } })
    t.equal(await readiness.mayDeleteByTime(), false)
    t.match(reported, [
      {
        message:
          /^the database has lost history: it has no heartbeat of this host, and had acknowledged one of 2/,
      },
      { message: /^not ready, history: .*gatewright history list$/ },
    ])
    t.notOk(reported[0] instanceof OperatorWarning, 'an error')
    t.match(other.reported, [{ message: /^not ready, history/ }], 'other hosts of the database know')
    await rows(db, 'update gw_lost_history set accepted_at = 1')
    t.match(await next(), { ready: true, dependencies: { history: 'ok' } })
    t.match(await other.next(), { ready: true })
  })

t.test('is ready beside newer software, until a version of the tables needs newer software', async t => {
  const db = await migrated(t, openPostgres)
  const { reported, next } = readinessOf(db)
  const record = (namespace: string, version: number, least: number): Promise<unknown> =>
    rows(db, 'insert into gw_migrations (namespace, version, least_version) values ($1, $2, $3)', [
      namespace,
      version,
      least,
    ])
  await record('another', 9, 9)
  t.match(await next(), { ready: true }, 'tables that it does not use')
  await record('host', 2, 1)
  t.match(await next(), { ready: true, dependencies: { tables: 'ok' } }, 'version 2 works with this software')
  await record('host', 3, 2)
  t.match(await next(), { ready: false, dependencies: { tables: 'down' } })
  t.match(reported, [
    {
      message:
        'not ready, tables: the tables need software that knows version 2 of host (this software knows 1): start the newer software here too',
    },
  ])
})

t.test('is not ready for 30 s after a write that found the disk full', async t => {
  const { readiness, clock, reported, next } = readinessOf(await migrated(t, openPostgres))
  const fault = (code: string): Fault =>
    new Fault('ERR_STORE_UNAVAILABLE', 'postgres failed', {
      cause: Object.assign(new Error('could not extend'), { code }),
    })
  readiness.failed(fault('40001'))
  t.match(await next(), { ready: true })
  for (const code of ['53100', 'SQLITE_FULL']) {
    readiness.failed(fault(code))
    clock.advance(28_999)
    t.match(await next(), { ready: false, dependencies: { disk: 'down', database: 'ok' } })
    clock.advance(1)
    t.match(await next(), { ready: true, dependencies: { disk: 'ok' } })
  }
  t.equal(reported.length, 4)
})
