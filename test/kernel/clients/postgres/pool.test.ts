import { fromPgPool, rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import type pg from 'pg'
import t from 'tap'
import { openPostgresPool, uniqueName } from '../../../harness/stores.ts'

const unavailable = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }

/** A pool of `size` connections in a schema of its own, with a table of one column. */
async function open(t: Tap, size: number): Promise<{ pool: pg.Pool; db: SqlClient }> {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, size)
  await pool.query('create table notes (id integer primary key)')
  t.teardown(async () => {
    const cleaner = await openPostgresPool(schema, 1)
    await cleaner.query(`drop schema ${schema} cascade`)
    await Promise.all([cleaner.end(), pool.end()])
  })
  return { pool, db: fromPgPool(pool) }
}
type Tap = Pick<typeof t, 'teardown'>

const insert = (db: SqlQueries, id: number): Promise<unknown> =>
  rows(db, 'insert into notes (id) values ($1)', [id])
const ids = async (db: SqlQueries): Promise<unknown[]> =>
  (await rows(db, 'select id from notes order by id')).map(row => row['id'])

t.test('passes values as parameters, never as SQL text', async t => {
  const { db } = await open(t, 1)
  const hostile = "'; drop table notes; --"
  t.same(await rows(db, 'select $1::text as a, $2::int as b, $1::text as c', [hostile, 7]), [
    { a: hostile, b: 7, c: hostile },
  ])
  t.same(await rows(db, 'select $1::bytea as bytes', [new Uint8Array([0, 255])]), [
    { bytes: Buffer.from([0, 255]) },
  ])
})

t.test('throws a fault when the work swallows a failed statement and resolves', async t => {
  const { db } = await open(t, 1)
  await insert(db, 1)
  const attempt = db.transaction(async tx => {
    await insert(tx, 2)
    await insert(tx, 1).catch(() => 'swallowed')
    return 'looks fine'
  })
  await t.rejects(attempt, { ...unavailable, message: /rolled the transaction back/ })
  t.same(await ids(db), [1])
})

t.test('throws a fault and rolls back when a constraint fails at the commit', async t => {
  const { db, pool } = await open(t, 1)
  await pool.query('create table replies (note integer references notes (id) deferrable initially deferred)')
  const attempt = db.transaction(tx => rows(tx, 'insert into replies (note) values (99)'))
  await t.rejects(attempt, { ...unavailable, cause: { code: '23503' } })
  t.same(await rows(db, 'select * from replies'), [])
})

t.test('rejects statements on a transaction that was committed or rolled back', async t => {
  const { db } = await open(t, 1)
  let committed: SqlQueries | undefined
  await db.transaction(async tx => {
    committed = tx
  })
  let rolledBack: SqlQueries | undefined
  const attempt = db.transaction(async tx => {
    rolledBack = tx
    throw new Error('no')
  })
  await attempt.catch(() => {})
  for (const tx of [committed, rolledBack] as SqlQueries[]) {
    let reply: Promise<unknown> | undefined
    t.doesNotThrow(() => {
      reply = tx.query('select 1')
    })
    await t.rejects(reply ?? Promise.resolve(), { message: /the transaction has ended/ })
  }
})

t.test('throws a fault for queries and transactions when the pool is exhausted', async t => {
  const { db, pool } = await open(t, 1)
  pool.options.connectionTimeoutMillis = 50
  await db.transaction(async () => {
    await t.rejects(rows(db, 'select 1'), unavailable)
    await t.rejects(
      db.transaction(async () => 'never'),
      unavailable,
    )
  })
  t.same(await rows(db, 'select 1 as one'), [{ one: 1 }])
})

/** Ends a server process from outside and waits until it is gone. */
async function terminate(killer: SqlQueries, pid: unknown): Promise<void> {
  await rows(killer, 'select pg_terminate_backend($1::int, 5000)', [Number(pid)])
}

t.test('throws a fault when a connection dies between two statements, and the process survives', async t => {
  const { db } = await open(t, 2)
  const attempt = db.transaction(async tx => {
    const [row] = await rows(tx, 'select pg_backend_pid() as pid')
    await insert(tx, 1)
    await terminate(db, row?.['pid'])
    // The process is gone, so the driver hears of it before this reply comes.
    await rows(db, 'select 1')
    await insert(tx, 2)
  })
  await t.rejects(attempt, unavailable)
  t.same(await ids(db), [])
})

t.test('throws a fault when a connection dies during a statement, and discards the connection', async t => {
  const { db } = await open(t, 2)
  const attempt = db.transaction(async tx => {
    const [row] = await rows(tx, 'select pg_backend_pid() as pid')
    await Promise.all([rows(tx, 'select pg_sleep(20)'), terminate(db, row?.['pid'])])
  })
  await t.rejects(attempt, unavailable)
  t.same(await Promise.all([ids(db), ids(db), ids(db)]), [[], [], []])
})

t.test('returns every connection to the pool, also after errors', async t => {
  const { db, pool } = await open(t, 2)
  const failing = async (): Promise<never> => {
    throw new Error('no')
  }
  for (let n = 0; n < 10; n++) await db.transaction(failing).catch(() => {})
  for (let n = 0; n < 10; n++) await db.transaction(tx => rows(tx, 'select nonsense')).catch(() => {})
  for (let n = 0; n < 10; n++) await db.transaction(async tx => ids(tx))
  t.equal(pool.waitingCount, 0)
  t.equal(pool.idleCount, pool.totalCount)
  const client = await pool.connect()
  t.ok(client.listenerCount('error') <= 1, 'no listener is left behind')
  client.release()
})

t.test('prepares each statement once per connection, only with the option prepare', async t => {
  const { pool } = await open(t, 1)
  const prepared = async (): Promise<number> => {
    const found = await pool.query(
      "select 1 from pg_prepared_statements where statement like '%from notes where%'",
    )
    return found.rows.length
  }
  const find = 'select id from notes where id = $1'
  const plain = fromPgPool(pool)
  await rows(plain, find, [1])
  t.equal(await prepared(), 0)
  const db = fromPgPool(pool, { prepare: true })
  await insert(db, 1)
  for (let i = 0; i < 3; i++) t.same(await rows(db, find, [1]), [{ id: 1 }])
  t.same(await db.transaction(tx => rows(tx, find, [1])), [{ id: 1 }])
  t.equal(await prepared(), 1)
})

for (const [name, of] of [
  ['a pool that can send statements together', (pool: pg.Pool) => fromPgPool(pool)],
  [
    'a driver that cannot',
    (pool: pg.Pool) =>
      fromPgPool({
        query: (...given) => pool.query(...(given as [string])),
        async connect() {
          const connection = await pool.connect()
          return {
            query: (...given) => connection.query(...(given as [string])),
            release: destroy => connection.release(destroy),
            on: (event, listener) => connection.on(event, listener),
            off: (event, listener) => connection.off(event, listener),
          }
        },
      }),
  ],
] as const) {
  t.test(`with lazyBegin, nothing runs after a rollback: ${name}`, async t => {
    const { pool } = await open(t, 1)
    const db = of(pool)
    const rejected = new Error('rejected')
    const statements: Promise<unknown>[] = []
    const work = async (tx: SqlQueries): Promise<void> => {
      statements.push(insert(tx, 1), insert(tx, 2))
      throw rejected
    }
    await t.rejects(db.transaction(work, { lazyBegin: true }), rejected)
    await Promise.allSettled(statements)
    t.same(await ids(db), [])
    t.equal(statements.length, 2)
  })
}

for (const lazyBegin of [false, true])
  t.test(
    `sends no rollback after a statement that took longer than query_timeout, with lazyBegin ${lazyBegin}`,
    async t => {
      const { pool } = await open(t, 1)
      Object.assign(pool.options, { query_timeout: 500 })
      const sent: unknown[] = []
      pool.on('connect', client => {
        const query = client.query.bind(client) as (...given: unknown[]) => unknown
        client.query = ((...given: unknown[]) => {
          sent.push(typeof given[0] === 'string' ? given[0] : (given[0] as { text: string }).text)
          return query(...given)
        }) as typeof client.query
      })
      ;(await pool.connect()).release(true)
      const slow = 'select pg_sleep(1)'
      const attempt = fromPgPool(pool).transaction(tx => tx.query(slow), { lazyBegin })
      await t.rejects(attempt, { ...unavailable, cause: { message: 'Query read timeout' } })
      t.same(sent, lazyBegin ? [slow] : ['begin', slow])
      t.equal(pool.totalCount, 0, 'the connection was closed')
    },
  )
