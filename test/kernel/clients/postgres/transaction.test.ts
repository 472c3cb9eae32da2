import { Fault } from '@gatewright/kernel'
import { fromPgPool, rows, type SqlClient, type SqlQueries, type SqlValue } from '@gatewright/kernel/sql'
import { defer, rowsAhead, together } from '@gatewright/kernel/internal/sql'
import { faultProxy } from '@gatewright/kernel/testing'
import pg from 'pg'
import t from 'tap'
import { openPostgresPool, openSqlite } from '../../../harness/stores.ts'
import { countWrites, modes, open } from './modes.ts'

const unavailable = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }
const duplicate = { ...unavailable, cause: { code: '23505' } }
const insert = 'insert into notes (id) values ($1)'
const ids = async (db: SqlClient): Promise<unknown[]> =>
  (await rows(db, 'select id from notes order by id')).map(row => row['id'])
const isPipelined = (mode: string): boolean => mode.startsWith('pipelined')

for (const mode of Object.keys(modes)) {
  for (const options of [{}, { lazyBegin: true }]) {
    const begun = 'lazyBegin' in options ? 'a lazily begun' : 'a'
    t.test(`${mode}: runs deferred statements of ${begun} transaction before the next, in order`, async t => {
      const { db } = await open(t, mode)
      for (const round of [1, 2]) {
        await db.transaction(async tx => {
          await defer(tx, insert, [round])
          await defer(tx, 'update notes set id = id + 10 where id = $1 returning id', [round])
          t.same(await rows(tx, 'select id from notes where id = $1', [round + 10]), [{ id: round + 10 }])
          await defer(tx, 'update notes set id = id + 10 where id = $1', [round + 10])
          await defer(tx, 'select id, 7 as other from notes')
          await tx.commit?.(`${insert} returning id`, [round + 100])
        }, options)
      }
      t.same(await ids(db), [21, 22, 101, 102])
    })

    t.test(
      `${mode}: reads the rows of statements that travel with the next of ${begun} transaction`,
      async t => {
        const { db } = await open(t, mode)
        await db.transaction(async tx => {
          await defer(tx, insert, [1])
          const read = 'select id, $1 as other from notes where id >= $2 order by id'
          const first = await rowsAhead(tx, read, ['a', 1])
          await defer(tx, insert, [2])
          const second = await rowsAhead(tx, read, ['b', 1])
          const none = await rowsAhead(tx, read, ['c', 9])
          if (tx.defer) t.throws(first, { message: /^await the next statement/ })
          t.same(await rows(tx, 'select count(*) as n from notes'), [{ n: '2' }])
          t.same(first(), [{ id: 1, other: 'a' }])
          t.same(
            second(),
            [1, 2].map(id => ({ id, other: 'b' })),
          )
          t.same(none(), [])
        }, options)
      },
    )

    t.test(`${mode}: commits the deferred statements that end ${begun} transaction`, async t => {
      const { db } = await open(t, mode)
      await db.transaction(async tx => {
        await defer(tx, insert, [1])
        await defer(tx, insert, [2])
      }, options)
      await db.transaction(async tx => {
        await rows(tx, insert, [3])
        await defer(tx, insert, [4])
      }, options)
      t.same(await ids(db), [1, 2, 3, 4])
      const failing = db.transaction(async tx => {
        await defer(tx, insert, [5])
        await defer(tx, insert, [1])
      }, options)
      await t.rejects(failing, duplicate)
      t.same(await ids(db), [1, 2, 3, 4])
    })

    t.test(`${mode}: commits nothing of ${begun} transaction whose deferred statement fails`, async t => {
      const { db, pool } = await open(t, mode)
      await rows(db, insert, [1])
      const fails = (step: 'query' | 'commit') =>
        db.transaction(async tx => {
          await rows(tx, insert, [2])
          const carried = defer(tx, insert, [1]).then(
            () => tx[step]?.(insert, [3]),
            // A client that runs it at once says so here.
            error => Promise.reject(error as Error),
          )
          await t.rejects(carried, duplicate)
          // The failure of a deferred statement also ends a transaction whose work swallows it.
        }, options)
      if (isPipelined(mode)) await t.rejects(fails('query'), duplicate)
      else await t.rejects(fails('query'), unavailable)
      await t.rejects(fails('commit'), unavailable)
      t.same(await ids(db), [1])
      await db.transaction(async tx => {
        await defer(tx, insert, [4])
        await rows(tx, insert, [5])
      }, options)
      t.same(await ids(db), [1, 4, 5])
      t.equal(pool.totalCount, 1, 'the connection was not discarded')
    })
  }

  t.test(`${mode}: runs simultaneous statements after what was deferred before them, in order`, async t => {
    const { db } = await open(t, mode)
    await db.transaction(async tx => {
      await rows(tx, insert, [1])
      await defer(tx, insert, [2])
      const third = rows(tx, 'select id from notes order by id')
      await defer(tx, insert, [3])
      const fourth = rows(tx, 'select id from notes order by id')
      t.same(await third, [{ id: 1 }, { id: 2 }])
      t.same(await fourth, [{ id: 1 }, { id: 2 }, { id: 3 }])
    })
    t.same(await ids(db), [1, 2, 3])
  })

  t.test(
    `${mode}: reads together what does not depend on each other, each on what was sent before`,
    async t => {
      const { db } = await open(t, mode)
      await db.transaction(async tx => {
        await defer(tx, insert, [1])
        const read = 'select id, $1 as name from notes order by id'
        const found = await together(
          tx,
          on => rows(on, read, ['first']),
          async () => 'no statement',
          async on => {
            await defer(on, insert, [2])
            const before = await rows(on, read, ['second'])
            await rows(on, insert, [3])
            return [before, await rows(on, read, ['later'])]
          },
        )
        const of = (name: string, ...ids: number[]) => ids.map(id => ({ id, name }))
        const first = of('first', ...(tx.defer ? [1, 2] : [1]))
        t.same(found, [first, 'no statement', [of('second', 1, 2), of('later', 1, 2, 3)]])
        t.same(await together(tx), [])
      })
      t.same(await ids(db), [1, 2, 3])
    },
  )

  t.test(`${mode}: fails all reads that are sent together when one fails, and commits nothing`, async t => {
    const { db } = await open(t, mode)
    const read = 'select id from notes where id = $1'
    const failing = { text: 'select 1 / id from notes where id = $1', values: [0] }
    const unsendable = { text: read, values: [{} as unknown as SqlValue] }
    for (const wrong of [failing, unsendable])
      for (const place of [0, 1, 2]) {
        const reads = [0, 1, 2].map(n => (on: SqlQueries) => {
          const { text, values } = n === place ? wrong : { text: read, values: [1] }
          return rows(on, text, values)
        })
        const attempt = db.transaction(async tx => {
          await rows(tx, insert, [0])
          await together(tx, ...reads)
        })
        await t.rejects(attempt, unavailable)
        t.same(await ids(db), [])
      }
  })

  t.test(`${mode}: drops deferred statements of work that rejects`, async t => {
    const { db } = await open(t, mode)
    const attempt = db.transaction(async tx => {
      await rows(tx, insert, [1])
      await defer(tx, insert, [2])
      throw new Error('changed my mind')
    })
    await t.rejects(attempt, { message: 'changed my mind' })
    t.same(await ids(db), [])
  })

  t.test(`${mode}: refuses to defer a statement after the transaction has ended`, async t => {
    const { db } = await open(t, mode)
    await db.transaction(async tx => {
      await tx.commit?.(insert, [1])
      const error: unknown = await defer(tx, insert, [2]).catch((thrown: unknown) => thrown)
      t.match(String(error instanceof Fault ? error.cause : error), /the transaction has ended/)
    })
    t.same(await ids(db), [1])
  })
}

t.test('sends deferred statements together with the next statement or COMMIT, in one round trip', async t => {
  const { db, pool } = await open(t, 'pipelined and prepared')
  const transaction = (id: number) =>
    db.transaction(
      async tx => {
        await defer(tx, insert, [id])
        await rows(tx, insert, [id + 1])
        await defer(tx, insert, [id + 2])
        await defer(tx, insert, [id + 3])
        await tx.commit?.(insert, [id + 4])
      },
      { lazyBegin: true },
    )
  await transaction(0)
  const writes = await countWrites(pool)
  await transaction(10)
  t.equal(writes(), 2)
  t.same(await ids(db), [0, 1, 2, 3, 4, 10, 11, 12, 13, 14])
})

t.test('sends the first statements of reads that run together in one round trip', async t => {
  const { db, pool } = await open(t, 'pipelined and prepared')
  const read = (id: number) =>
    db.transaction(
      async tx => {
        const one = (column: string) => (on: SqlQueries) => rows(on, `select $1 as ${column}`, [id])
        t.same(await together(tx, one('a'), one('b'), one('c')), [
          [{ a: `${id}` }],
          [{ b: `${id}` }],
          [{ c: `${id}` }],
        ])
        await tx.commit?.(insert, [id])
      },
      { lazyBegin: true },
    )
  await read(1)
  const writes = await countWrites(pool)
  await read(2)
  t.equal(writes(), 2)
})

t.test(
  'refuses a deferred value of an unsupported type at once, and copies the values of others',
  async t => {
    const { db } = await open(t, 'pipelined')
    await db.transaction(async tx => {
      const wrong = defer(tx, insert, [{} as unknown as SqlValue])
      await t.rejects(wrong, { ...unavailable, cause: { name: 'TypeError' } })
      const values = [1]
      await defer(tx, insert, values)
      values[0] = 2
    })
    t.same(await ids(db), [1])
  },
)

t.test('commits nothing if a value of the statement that carries deferred ones cannot be sent', async t => {
  const { db } = await open(t, 'pipelined')
  const attempt = db.transaction(async tx => {
    await rows(tx, insert, [1])
    await defer(tx, insert, [2])
    await rows(tx, insert, [{} as unknown as SqlValue]).catch(() => 'swallowed')
    await rows(tx, insert, [3]).catch(() => 'swallowed')
  })
  await t.rejects(attempt, { ...unavailable, cause: { name: 'TypeError' } })
  t.same(await ids(db), [])
})

t.test('a deferred lock makes the statement behind it see what was committed during the wait', async t => {
  const { db, pool } = await open(t, 'pipelined')
  await rows(db, insert, [1])
  const other = new pg.Pool({ ...pool.options, max: 1 })
  t.teardown(() => other.end())
  const holder = await other.connect()
  await holder.query('begin')
  await holder.query('select id from notes where id = 1 for update')
  const counted = db.transaction(
    async tx => {
      await defer(tx, 'select id from notes where id = $1 for update', [1])
      return rows(tx, 'select cast(count(*) as integer) as n from notes')
    },
    { lazyBegin: true },
  )
  for (;;) {
    const { rows: waiting } = await holder.query('select 1 from pg_locks where not granted')
    if (waiting.length > 0) break
  }
  await holder.query('insert into notes (id) values (2)')
  await holder.query('commit')
  holder.release()
  t.same(await counted, [{ n: 2 }])
})

t.test('throws a fault when the connection is cut, and has committed all or nothing', async t => {
  const { db, schema } = await open(t, 'pipelined')
  const proxy = await faultProxy(process.env['TEST_POSTGRES_URL'] as string)
  t.teardown(() => proxy.close())
  for (const [harm, committed] of [
    ['cutBefore', []],
    ['cutAfter', [1, 2]],
  ] as const) {
    const cut = await openPostgresPool(schema, 1, proxy.url)
    t.teardown(() => cut.end())
    const attempt = fromPgPool(cut).transaction(async tx => {
      t.same(await rows(tx, 'select id from notes'), [])
      await defer(tx, insert, [1])
      proxy.harm = harm
      await tx.commit?.(insert, [2])
    })
    await t.rejects(attempt, unavailable, harm)
    proxy.harm = 'none'
    t.same(await ids(db), committed, harm)
  }
})

t.test('sqlite: runs a deferred statement at once, and rolls back if it fails', async t => {
  const { connections, close } = await openSqlite(1, async () => {})
  t.teardown(close)
  const [db] = connections as [SqlClient]
  await rows(db, 'create table notes (id integer primary key)')
  await db.transaction(async tx => {
    await defer(tx, insert, [1])
    t.same(await rows(tx, 'select id from notes'), [{ id: 1 }])
    await defer(tx, insert, [2])
  })
  const attempt = db.transaction(async tx => {
    await defer(tx, insert, [3])
    await defer(tx, insert, [1])
  })
  await t.rejects(attempt, unavailable)
  t.same(await ids(db), [1, 2])
})
