import { fromPgPool, rows, type SqlClient, type SqlTransaction, type SqlValue } from '@gatewright/kernel/sql'
import pg from 'pg'
import t from 'tap'
import { copies, PG_SETTINGS } from '../../../harness/databases/client-settings.ts'
import { countWrites, modes, open } from './modes.ts'

const unavailable = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }
const lazily = { lazyBegin: true }

const insert = 'insert into notes (id) values ($1)'
const ids = async (db: SqlClient): Promise<unknown[]> =>
  (await rows(db, 'select id from notes order by id')).map(row => row['id'])
const commit = (tx: SqlTransaction, text: string, values: SqlValue[] = []) => {
  if (!tx.commit) throw new Error('this transaction has no commit')
  return tx.commit(text, values)
}

for (const mode of Object.keys(modes)) {
  t.test(`${mode}: commits what a lazily begun transaction has written, with a pipelined commit`, async t => {
    const { db, pool } = await open(t, mode)
    for (const id of [1, 2, 3]) {
      const result = await db.transaction(async tx => {
        t.same(await rows(tx, 'select cast($1 as integer) as first', [id]), [{ first: id }])
        await rows(tx, insert, [id])
        t.same((await commit(tx, `${insert} returning id`, [id + 10])).rows, [{ id: id + 10 }])
        await t.rejects(tx.query('select 1'), /the transaction has ended/)
        await t.rejects(commit(tx, 'select 1'), /the transaction has ended/)
        return 'done'
      }, lazily)
      t.equal(result, 'done')
    }
    await db.transaction(async tx => commit(tx, insert, [99]), lazily)
    await db.transaction(async tx => commit(tx, insert, [98]))
    t.same(await ids(db), [1, 2, 3, 11, 12, 13, 98, 99])
    t.equal(await db.transaction(async () => 'no statement', lazily), 'no statement')
    t.equal(pool.totalCount, 1, 'the connection was reused')
  })

  t.test(`${mode}: rolls back a lazily begun transaction whose work rejects`, async t => {
    const { db, pool } = await open(t, mode)
    const own = new Error('changed my mind')
    const attempt = db.transaction(async tx => {
      await rows(tx, insert, [1])
      throw own
    }, lazily)
    t.equal(await attempt.catch((error: unknown) => error), own)
    await t.rejects(
      db.transaction(async () => Promise.reject(own), lazily),
      own,
    )
    t.same(await ids(db), [])
    t.equal(pool.totalCount, 1)
  })

  t.test(
    `${mode}: commits nothing when the first or last statement fails, also when the work swallows the error`,
    async t => {
      const { db, pool } = await open(t, mode)
      await rows(db, insert, [1])
      for (let n = 0; n < 2; n++) {
        const first = db.transaction(tx => rows(tx, insert, [1]), lazily)
        await t.rejects(first, { ...unavailable, cause: { code: '23505' } })
        const last = db.transaction(async tx => {
          await rows(tx, insert, [2])
          await commit(tx, insert, [1]).catch(() => 'swallowed')
        }, lazily)
        await t.rejects(last, { ...unavailable, cause: { code: '23505' } })
        await t.rejects(
          db.transaction(tx => rows(tx, 'no statement at all'), lazily),
          { ...unavailable, cause: { code: '42601' } },
        )
      }
      const spoilt = db.transaction(async tx => {
        await rows(tx, insert, [1]).catch(() => 'swallowed')
        await commit(tx, insert, [2])
      }, lazily)
      await t.rejects(spoilt, { ...unavailable, cause: { code: '23505' } })
      t.same(await ids(db), [1])
      // The texts that have failed run again, with values that succeed.
      await db.transaction(tx => rows(tx, insert, [3]), lazily)
      await db.transaction(async tx => commit(tx, insert, [4]), lazily)
      t.same(await ids(db), [1, 3, 4])
      t.equal(pool.totalCount, 1, 'the connection was not discarded')
    },
  )

  t.test(
    `${mode}: throws a fault and rolls back when a constraint fails at the pipelined commit`,
    async t => {
      const { db } = await open(t, mode)
      const attempt = db.transaction(async tx => {
        await rows(tx, insert, [1])
        await commit(tx, 'insert into replies (note) values ($1)', [99])
      }, lazily)
      await t.rejects(attempt, { ...unavailable, cause: { code: '23503' } })
      t.same(await ids(db), [])
    },
  )

  t.test(`${mode}: rethrows an error of the work after its commit, and keeps what it committed`, async t => {
    const { db, pool } = await open(t, mode)
    const attempt = db.transaction(async tx => {
      await commit(tx, insert, [1])
      throw new Error('too late')
    }, lazily)
    await t.rejects(attempt, { message: 'too late' })
    t.same(await ids(db), [1])
    t.equal(pool.totalCount, 1)
  })

  t.test(
    `${mode}: throws a fault when a connection dies in the first or last statement, and discards it`,
    async t => {
      const { db } = await open(t, mode)
      const die = 'select pg_terminate_backend(pg_backend_pid())'
      await t.rejects(
        db.transaction(tx => rows(tx, die), lazily),
        unavailable,
      )
      const attempt = db.transaction(async tx => {
        await rows(tx, insert, [1])
        await commit(tx, die)
      }, lazily)
      await t.rejects(attempt, unavailable)
      t.same(await ids(db), [])
    },
  )

  t.test(`${mode}: sends and parses values like a single statement`, async t => {
    const { db } = await open(t, mode)
    const text = `select $1::text as text, $2::integer as number, $3::bigint as big, $4::bytea as bytes,
      $5::text as nothing, $2::integer > 0 as yes, '{1,2}'::integer[] as list, 1.5::float8 as float`
    const values = [
      "'; drop table notes; --\\ \u20ac",
      7,
      12345678901234n,
      new Uint8Array([0, 39, 255]),
      null,
    ]
    const expected = await rows(db, text, values)
    for (let n = 0; n < 2; n++) {
      await db.transaction(async tx => {
        t.same(await rows(tx, text, values), expected)
        t.same((await commit(tx, text, values)).rows, expected)
      }, lazily)
      await db.transaction(async tx => {
        t.same(await rows(tx, 'select id from notes where id = $1', [0]), [])
        const several = await commit(tx, 'select n from generate_series(1, $1::integer) as n', [3])
        t.same(several.rows, [{ n: 1 }, { n: 2 }, { n: 3 }])
      }, lazily)
    }
  })
}

t.test('sends BEGIN with the first statement and COMMIT with the last, in one round trip each', async t => {
  const { db, pool } = await open(t, 'pipelined and prepared')
  await db.transaction(async tx => commit(tx, insert, [0]), lazily)
  const writes = await countWrites(pool)
  await db.transaction(async tx => {
    await rows(tx, insert, [1])
    await rows(tx, insert, [2])
    await commit(tx, insert, [3])
  }, lazily)
  t.equal(writes(), 3)
})

t.test('rejects a value of an unsupported type before anything is sent', async t => {
  const { db, pool } = await open(t, 'pipelined')
  for (const value of [undefined, new Date(), {}]) {
    const attempt = db.transaction(tx => rows(tx, insert, [value as unknown as SqlValue]), lazily)
    await t.rejects(attempt, { ...unavailable, cause: { name: 'TypeError' } })
  }
  t.same(await ids(db), [])
  t.equal(pool.totalCount, 1)
})

for (const commits of [false, true]) {
  t.test(`keeps the pool usable after a COPY that is sent with ${commits ? 'COMMIT' : 'BEGIN'}`, async t => {
    const { db } = await open(t, 'pipelined')
    const attempt = (text: string) =>
      db.transaction<unknown>(async tx => (commits ? commit(tx, text) : rows(tx, text)), lazily)
    await t.rejects(attempt('copy notes from stdin'), unavailable)
    t.same(await ids(db), [])
    await attempt('copy notes to stdout')
    t.same(await Promise.all([1, 2].map(id => rows(db, 'select $1::int as id', [id]))), [
      [{ id: 1 }],
      [{ id: 2 }],
    ])
  })
}

for (const mode of Object.keys(modes)) {
  t.test(
    `${mode}: runs no statement after a first statement that failed, also if no transaction was opened`,
    async t => {
      const { db } = await open(t, mode)
      const failing: [string, SqlValue[]][] = [
        [insert, [undefined as unknown as SqlValue]],
        ['insert into nowhere values (1)', []],
      ]
      for (const [text, values] of failing) {
        const attempt = db.transaction(async tx => {
          await t.rejects(rows(tx, text, values), unavailable)
          await t.rejects(rows(tx, insert, [1]), unavailable)
        }, lazily)
        await t.rejects(attempt, unavailable)
      }
      t.same(await ids(db), [])
    },
  )
}

t.test(
  'runs no statement outside a transaction when the server has forgotten prepared statements',
  async t => {
    const { db } = await open(t, 'pipelined and prepared')
    await db.transaction(tx => rows(tx, insert, [0]), lazily)
    await db.query('discard all')
    const attempt = db.transaction(async tx => {
      await rows(tx, insert, [1]).catch(() => {})
      await rows(tx, insert, [2])
    }, lazily)
    await t.rejects(attempt, unavailable)
    t.same(await ids(db), [0])
    await db.transaction(tx => rows(tx, insert, [1]), lazily)
    t.same(await ids(db), [0, 1])
  },
)

t.test('runs simultaneous statements after BEGIN, in their order', async t => {
  for (const mode of Object.keys(modes)) {
    const { db } = await open(t, mode)
    await db.transaction(tx => Promise.all([1, 2, 3].map(id => rows(tx, insert, [id]))), lazily)
    t.same(await ids(db), [1, 2, 3], mode)
  }
})

t.test(
  "throws a fault when a statement exceeds the pool's query_timeout, and keeps the pool usable",
  async t => {
    const { pool: first } = await open(t, 'pipelined')
    const pool = new pg.Pool({ ...first.options, query_timeout: 500 })
    pool.on('error', () => {})
    t.teardown(() => pool.end())
    const db = fromPgPool(pool)
    await t.rejects(
      db.transaction(tx => rows(tx, 'select pg_sleep(1)'), lazily),
      unavailable,
    )
    await t.rejects(
      db.transaction(tx => commit(tx, 'select pg_sleep(1)')),
      unavailable,
    )
    t.same(await rows(db, 'select 1 as one'), [{ one: 1 }])
  },
)

const timersOfProcess = (): number =>
  process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length

for (const mode of ['pipelined', 'pipelined and prepared'])
  t.test(`${mode}: calls the callbacks of copies of query objects, which instrumentation sends`, async t => {
    t.teardown(PG_SETTINGS['copied query objects']!.apply())
    const { pool: first } = await open(t, mode)
    // Without a timer of each idle connection.
    const pool = new pg.Pool({ ...first.options, query_timeout: 500, idleTimeoutMillis: 0 })
    pool.on('error', () => {})
    t.teardown(() => pool.end())
    const db = (modes[mode] as (pool: pg.Pool) => SqlClient)(pool)
    const before = { ...copies }
    const write = (id: number): Promise<unknown> =>
      db.transaction(async tx => {
        t.same(await rows(tx, 'select cast($1 as integer) as first', [id]), [{ first: id }])
        await commit(tx, insert, [id])
      }, lazily)
    await write(1)
    await t.rejects(write(1), { name: 'Fault', cause: { code: '23505' } })
    t.ok(copies.made > before.made, 'there were copies')
    t.equal(copies.ended - before.ended, copies.made - before.made, 'each span ends')
    // A timer of `query_timeout` that is left would end the statement that runs then.
    await db.transaction(async tx => {
      const timers = timersOfProcess()
      for (const n of [1, 2]) t.same(await rows(tx, 'select cast($1 as integer) as n', [n]), [{ n }])
      t.equal(timersOfProcess(), timers, 'the timers of both statements are cleared')
    }, lazily)
    await t.rejects(
      db.transaction(tx => rows(tx, 'select pg_sleep(1)'), lazily),
      { ...unavailable, cause: { message: 'Query read timeout' } },
    )
    await write(2)
    t.same(await ids(db), [1, 2])
  })
