import { fromPgPool, rows, type SqlClient, type SqlTransaction, type SqlValue } from '@gatewright/kernel/sql'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'

const unavailable = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }
const late = { beginLate: true }

/** A pool whose connections do not say that they take batches, like an older driver or somebody's wrapper. */
function oneByOne(pool: pg.Pool): Parameters<typeof fromPgPool>[0] {
  return {
    query: (text, values) => pool.query(text as string, values),
    connect: async () => {
      const connection = await pool.connect()
      return {
        query: (text, values) => connection.query(text as string, values),
        release: destroy => connection.release(destroy),
        on: (event, listener) => connection.on(event, listener),
        off: (event, listener) => connection.off(event, listener),
      }
    },
  }
}

const ways: Record<string, (pool: pg.Pool) => SqlClient> = {
  'in batches': pool => fromPgPool(pool),
  'in prepared batches': pool => fromPgPool(pool, { prepare: true }),
  'one by one': pool => fromPgPool(oneByOne(pool)),
  'in pipeline mode': pool => {
    pool.options.pipeline = true
    return fromPgPool(pool, { prepare: true })
  },
}

async function open(t: Test, way: string): Promise<{ pool: pg.Pool; db: SqlClient }> {
  const schema = uniqueName()
  const admin = await openPostgresPool(schema, 1)
  await admin.query('create table notes (id integer primary key)')
  await admin.query('create table replies (note integer references notes (id) deferrable initially deferred)')
  const pool = await openPostgresPool(schema, 1)
  t.teardown(async () => {
    await pool.end()
    await admin.query(`drop schema ${schema} cascade`)
    await admin.end()
  })
  return { pool, db: (ways[way] as (pool: pg.Pool) => SqlClient)(pool) }
}

const insert = 'insert into notes (id) values ($1)'
const ids = async (db: SqlClient): Promise<unknown[]> =>
  (await rows(db, 'select id from notes order by id')).map(row => row['id'])
const commit = (tx: SqlTransaction, text: string, values: SqlValue[] = []) => {
  if (!tx.commit) throw new Error('this transaction has no commit')
  return tx.commit(text, values)
}

for (const way of Object.keys(ways)) {
  t.test(`${way}: a late beginning and a joined commit hold what a transaction holds`, async t => {
    const { db, pool } = await open(t, way)
    for (const id of [1, 2, 3]) {
      const result = await db.transaction(async tx => {
        t.same(await rows(tx, 'select cast($1 as integer) as first', [id]), [{ first: id }])
        await rows(tx, insert, [id])
        t.same((await commit(tx, `${insert} returning id`, [id + 10])).rows, [{ id: id + 10 }])
        await t.rejects(tx.query('select 1'), /the transaction has ended/)
        await t.rejects(commit(tx, 'select 1'), /the transaction has ended/)
        return 'done'
      }, late)
      t.equal(result, 'done')
    }
    await db.transaction(async tx => commit(tx, insert, [99]), late)
    await db.transaction(async tx => commit(tx, insert, [98]))
    t.same(await ids(db), [1, 2, 3, 11, 12, 13, 98, 99])
    t.equal(await db.transaction(async () => 'no statement', late), 'no statement')
    t.equal(pool.totalCount, 1, 'on one connection, which is as good as it was')
  })

  t.test(`${way}: a late beginning rolls back what the work leaves`, async t => {
    const { db, pool } = await open(t, way)
    const own = new Error('changed my mind')
    const attempt = db.transaction(async tx => {
      await rows(tx, insert, [1])
      throw own
    }, late)
    t.equal(await attempt.catch((error: unknown) => error), own)
    await t.rejects(
      db.transaction(async () => Promise.reject(own), late),
      own,
    )
    t.same(await ids(db), [])
    t.equal(pool.totalCount, 1)
  })

  t.test(
    `${way}: a first or last statement that fails commits nothing, also when that is swallowed`,
    async t => {
      const { db, pool } = await open(t, way)
      await rows(db, insert, [1])
      for (let n = 0; n < 2; n++) {
        const first = db.transaction(tx => rows(tx, insert, [1]), late)
        await t.rejects(first, { ...unavailable, cause: { code: '23505' } })
        const last = db.transaction(async tx => {
          await rows(tx, insert, [2])
          await commit(tx, insert, [1]).catch(() => 'swallowed')
        }, late)
        await t.rejects(last, { ...unavailable, cause: { code: '23505' } })
        await t.rejects(
          db.transaction(tx => rows(tx, 'no statement at all'), late),
          { ...unavailable, cause: { code: '42601' } },
        )
      }
      const spoilt = db.transaction(async tx => {
        await rows(tx, insert, [1]).catch(() => 'swallowed')
        await commit(tx, insert, [2])
      }, late)
      await t.rejects(spoilt, { ...unavailable, cause: { code: '23505' } })
      t.same(await ids(db), [1])
      // The statements that have failed are run again, and by now may succeed.
      await db.transaction(tx => rows(tx, insert, [3]), late)
      await db.transaction(async tx => commit(tx, insert, [4]), late)
      t.same(await ids(db), [1, 3, 4])
      t.equal(pool.totalCount, 1, 'the connection is not thrown away for it')
    },
  )

  t.test(`${way}: a constraint that fails at the joined commit is a fault, and nothing stays`, async t => {
    const { db } = await open(t, way)
    const attempt = db.transaction(async tx => {
      await rows(tx, insert, [1])
      await commit(tx, 'insert into replies (note) values ($1)', [99])
    }, late)
    await t.rejects(attempt, { ...unavailable, cause: { code: '23503' } })
    t.same(await ids(db), [])
  })

  t.test(
    `${way}: an error of the work after its commit is passed on, and what it committed stays`,
    async t => {
      const { db, pool } = await open(t, way)
      const attempt = db.transaction(async tx => {
        await commit(tx, insert, [1])
        throw new Error('too late')
      }, late)
      await t.rejects(attempt, { message: 'too late' })
      t.same(await ids(db), [1])
      t.equal(pool.totalCount, 1)
    },
  )

  t.test(
    `${way}: a connection that dies in the first or the last statement is a fault, and is not used again`,
    async t => {
      const { db } = await open(t, way)
      const die = 'select pg_terminate_backend(pg_backend_pid())'
      await t.rejects(
        db.transaction(tx => rows(tx, die), late),
        unavailable,
      )
      const attempt = db.transaction(async tx => {
        await rows(tx, insert, [1])
        await commit(tx, die)
      }, late)
      await t.rejects(attempt, unavailable)
      t.same(await ids(db), [])
    },
  )

  t.test(`${way}: values go and come as in a statement alone`, async t => {
    const { db } = await open(t, way)
    const text = `select $1::text as text, $2::integer as number, $3::bigint as big, $4::bytea as bytes,
      $5::text as nothing, $2::integer > 0 as yes, '{1,2}'::integer[] as list, 1.5::float8 as float`
    const values = [
      "'; drop table notes; --\\ \u20ac",
      7,
      12345678901234n,
      new Uint8Array([0, 39, 255]),
      null,
    ]
    const alone = await rows(db, text, values)
    for (let n = 0; n < 2; n++) {
      await db.transaction(async tx => {
        t.same(await rows(tx, text, values), alone)
        t.same((await commit(tx, text, values)).rows, alone)
      }, late)
      await db.transaction(async tx => {
        t.same(await rows(tx, 'select id from notes where id = $1', [0]), [])
        const several = await commit(tx, 'select n from generate_series(1, $1::integer) as n', [3])
        t.same(several.rows, [{ n: 1 }, { n: 2 }, { n: 3 }])
      }, late)
    }
  })
}

t.test('a late beginning and a joined commit take one round trip each', async t => {
  const { db, pool } = await open(t, 'in prepared batches')
  await db.transaction(async tx => commit(tx, insert, [0]), late)
  const client = await pool.connect()
  let writes = 0
  const { stream } = client.connection
  // What the stream hands to the socket as one.
  const writev = '_writev'
  const write = stream[writev]?.bind(stream)
  stream[writev] = (chunks, done) => {
    writes++
    write?.(chunks, done)
  }
  client.release()
  await db.transaction(async tx => {
    await rows(tx, insert, [1])
    await rows(tx, insert, [2])
    await commit(tx, insert, [3])
  }, late)
  t.equal(writes, 3)
})

t.test('a value of no type that a statement can carry fails before anything is sent', async t => {
  const { db, pool } = await open(t, 'in batches')
  for (const value of [undefined, new Date(), {}]) {
    const attempt = db.transaction(tx => rows(tx, insert, [value as unknown as SqlValue]), late)
    await t.rejects(attempt, { ...unavailable, cause: { name: 'TypeError' } })
  }
  t.same(await ids(db), [])
  t.equal(pool.totalCount, 1)
})

for (const commits of [false, true]) {
  t.test(`a COPY ${commits ? 'ahead of a commit' : 'behind a beginning'} leaves the pool usable`, async t => {
    const { db } = await open(t, 'in batches')
    const attempt = (text: string) =>
      db.transaction<unknown>(async tx => (commits ? commit(tx, text) : rows(tx, text)), late)
    await t.rejects(attempt('copy notes from stdin'), unavailable)
    t.same(await ids(db), [])
    await attempt('copy notes to stdout')
    t.same(await Promise.all([1, 2].map(id => rows(db, 'select $1::int as id', [id]))), [
      [{ id: 1 }],
      [{ id: 2 }],
    ])
  })
}

for (const way of Object.keys(ways)) {
  t.test(
    `${way}: nothing runs behind a first statement that failed, also where there is no transaction`,
    async t => {
      const { db } = await open(t, way)
      const failing: [string, SqlValue[]][] = [
        [insert, [undefined as unknown as SqlValue]],
        ['insert into nowhere values (1)', []],
      ]
      for (const [text, values] of failing) {
        const attempt = db.transaction(async tx => {
          await t.rejects(rows(tx, text, values), unavailable)
          await t.rejects(rows(tx, insert, [1]), unavailable)
        }, late)
        await t.rejects(attempt, unavailable)
      }
      t.same(await ids(db), [])
    },
  )
}

t.test('nothing runs by itself where the server has forgotten what was prepared', async t => {
  const { db } = await open(t, 'in prepared batches')
  await db.transaction(tx => rows(tx, insert, [0]), late)
  await db.query('discard all')
  const attempt = db.transaction(async tx => {
    await rows(tx, insert, [1]).catch(() => {})
    await rows(tx, insert, [2])
  }, late)
  await t.rejects(attempt, unavailable)
  t.same(await ids(db), [0])
  await db.transaction(tx => rows(tx, insert, [1]), late)
  t.same(await ids(db), [0, 1])
})

t.test('statements that are asked for at once run behind the beginning, in their order', async t => {
  for (const way of Object.keys(ways)) {
    const { db } = await open(t, way)
    await db.transaction(tx => Promise.all([1, 2, 3].map(id => rows(tx, insert, [id]))), late)
    t.same(await ids(db), [1, 2, 3], way)
  }
})

t.test(
  "a statement that outlives the pool's query_timeout is a fault, and the pool stays usable",
  async t => {
    const { pool: first } = await open(t, 'in batches')
    const pool = new pg.Pool({ ...first.options, query_timeout: 100 })
    pool.on('error', () => {})
    t.teardown(() => pool.end())
    const db = fromPgPool(pool)
    await t.rejects(
      db.transaction(tx => rows(tx, 'select pg_sleep(0.3)'), late),
      unavailable,
    )
    await t.rejects(
      db.transaction(tx => commit(tx, 'select pg_sleep(0.3)')),
      unavailable,
    )
    t.same(await rows(db, 'select 1 as one'), [{ one: 1 }])
  },
)
