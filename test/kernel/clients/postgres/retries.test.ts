import {
  fromPgPool,
  rows,
  type SqlClient,
  type SqlQueries,
  type SqlTransaction,
} from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { faultProxy, race } from '@gatewright/kernel/testing'
import pg from 'pg'
import t from 'tap'
import { openPostgresPool, uniqueName } from '../../../harness/stores.ts'

/** Opens two pools whose transactions have an isolation level, with a table of two accounts. */
async function open(test: Pick<typeof t, 'teardown'>, level: string): Promise<readonly pg.Pool[]> {
  const schema = uniqueName()
  const first = await openPostgresPool(schema, 1)
  const options = `-c search_path=${schema} -c default_transaction_isolation=${level.replace(' ', '\\ ')}`
  const pools = [1, 2].map(
    () => new pg.Pool({ connectionString: process.env['TEST_POSTGRES_URL'], max: 4, options }),
  )
  test.teardown(async () => {
    await Promise.all(pools.map(pool => pool.end()))
    await first.query(`drop schema ${schema} cascade`)
    await first.end()
  })
  await first.query('create table accounts (id integer primary key, cents integer not null)')
  await first.query('insert into accounts values (1, 100), (2, 100)')
  return pools
}

const read = async (db: SqlQueries, id: number): Promise<number> => {
  const [row] = await rows(db, 'select cents from accounts where id = $1', [id])
  return toInteger(row?.['cents'])
}
const write = (db: SqlQueries, id: number, cents: number): Promise<unknown> =>
  rows(db, 'update accounts set cents = $2 where id = $1', [id, cents])

for (const level of ['repeatable read', 'serializable'])
  t.test(`${level}: transactions that conflict run again until each has taken effect`, async t => {
    const reasons: string[] = []
    const pools = await open(t, level)
    const dbs = pools.map(pool =>
      fromPgPool(pool, { retries: 50, onRetry: reason => reasons.push(reason) }),
    ) as [SqlClient, SqlClient]
    // The first two write when both have read.
    let readers = 0
    let goOn = (): void => {}
    const bothHaveRead = new Promise<void>(resolve => {
      goOn = resolve
    })
    await race(8, index =>
      (dbs[index % 2] as SqlClient).transaction(async tx => {
        const cents = await read(tx, 1)
        readers += 1
        if (readers === 2) goOn()
        await bothHaveRead
        await write(tx, 1, cents + 1)
      }),
    )
    t.equal(await read(dbs[0], 1), 108)
    t.ok(reasons.length > 0, 'some ran again')
    t.same(new Set(reasons), new Set(['serialization']))
  })

t.test('serializable: of two that each read what the other writes, one runs again and sees it', async t => {
  const [one, two] = (await open(t, 'serializable')).map(pool => fromPgPool(pool, { retries: 5 })) as [
    SqlClient,
    SqlClient,
  ]
  // Each may take 150 of the 200 that both accounts have together.
  const take = (db: SqlClient, id: number, meanwhile: () => Promise<unknown>): Promise<boolean> =>
    db.transaction(async tx => {
      if ((await read(tx, 1)) + (await read(tx, 2)) < 150) return false
      await meanwhile()
      await write(tx, id, -50)
      return true
    })
  const taken: boolean[] = []
  let first = true
  taken.push(
    await take(one, 1, async () => {
      if (first) taken.push(await take(two, 2, async () => {}))
      first = false
    }),
  )
  t.same(taken, [true, false])
  t.equal((await read(one, 1)) + (await read(one, 2)), 50)
})

t.test('two transactions that wait for each other: one runs again', async t => {
  const reasons: string[] = []
  const [pool] = (await open(t, 'read committed')) as [pg.Pool]
  const db = fromPgPool(pool, { retries: 20, onRetry: reason => reasons.push(reason) })
  const add = (tx: SqlQueries, id: number): Promise<unknown> =>
    rows(tx, 'update accounts set cents = cents + 1 where id = $1', [id])
  let arrived = 0
  let open2 = (): void => {}
  const both = new Promise<void>(resolve => {
    open2 = resolve
  })
  const addTwo = (from: number, to: number): Promise<unknown> =>
    db.transaction(async tx => {
      await add(tx, from)
      if (++arrived === 2) open2()
      await both
      await add(tx, to)
    })
  await Promise.all([addTwo(1, 2), addTwo(2, 1)])
  // More than once, if the one that runs again takes its row before the other wakes.
  t.same(new Set(reasons), new Set(['deadlock']))
  t.same([await read(db, 1), await read(db, 2)], [102, 102])
})

t.test('gives up after its number of retries, with the error of the database', async t => {
  const reasons: string[] = []
  const [pool] = (await open(t, 'read committed')) as [pg.Pool]
  const db = fromPgPool(pool, { retries: 2, onRetry: reason => reasons.push(reason) })
  const refuse = "do $$ begin raise exception 'refused' using errcode = '40001'; end $$"
  let runs = 0
  const attempt = db.transaction(async tx => {
    runs += 1
    await write(tx, 1, runs)
    await rows(tx, refuse)
  })
  await t.rejects(attempt, { code: 'ERR_STORE_UNAVAILABLE', cause: { code: '40001' } })
  t.equal(runs, 3)
  t.equal(await read(db, 1), 100, 'nothing was kept')
  await t.rejects(rows(db, refuse), { cause: { code: '40001' } }, 'a single statement is repeated too')
  t.same(reasons, Array(4).fill('serialization'))
})

t.test('without retries, and after any other error, runs once', async t => {
  const [pool] = (await open(t, 'read committed')) as [pg.Pool]
  const fail = (retries: number, code: string) => async (): Promise<number> => {
    let runs = 0
    const attempt = fromPgPool(pool, { retries }).transaction(async tx => {
      runs += 1
      await rows(tx, `do $$ begin raise exception 'refused' using errcode = '${code}'; end $$`)
    })
    await t.rejects(attempt, { cause: { code } })
    return runs
  }
  t.equal(await fail(0, '40001')(), 1)
  for (const code of ['23505', '40003', '55P03', '08006']) t.equal(await fail(3, code)(), 1, code)
})

const commit = async (tx: SqlTransaction, text: string): Promise<void> => {
  if (!tx.commit) throw new Error('Postgres offers commit')
  await tx.commit(text)
}

/** The ways in which a transaction commits: after its work, with its last statement, and with its first. */
const WAYS: Readonly<Record<string, (tx: SqlTransaction, cut: () => void) => Promise<void>>> = {
  'after the work': async (tx, cut) => {
    await write(tx, 1, 7)
    cut()
  },
  'with the last statement': async (tx, cut) => {
    await write(tx, 1, 6)
    cut()
    await commit(tx, 'update accounts set cents = cents + 1 where id = 1')
  },
  'with the only statement': async (tx, cut) => {
    cut()
    await commit(tx, 'update accounts set cents = 7 where id = 1')
  },
}

for (const [way, work] of Object.entries(WAYS))
  for (const lazyBegin of [false, true])
    t.test(
      `${way}${lazyBegin ? ', lazy begin' : ''}: runs once if the connection breaks at COMMIT`,
      async t => {
        const [direct] = (await open(t, 'serializable')) as [pg.Pool]
        const proxy = await faultProxy(process.env['TEST_POSTGRES_URL'] as string)
        const pool = new pg.Pool({ ...direct.options, connectionString: proxy.url })
        pool.on('error', () => {})
        t.teardown(async () => {
          await pool.end()
          await proxy.close()
        })
        const db = fromPgPool(pool, { retries: 5, onRetry: () => t.fail('ran again') })
        await read(db, 1)
        let runs = 0
        // What cuts drops the reply, so the database has committed.
        const cut = (): void => {
          proxy.harm = 'cutAfter'
        }
        const attempt = db.transaction(
          async tx => {
            runs += 1
            await work(tx, cut)
          },
          { lazyBegin },
        )
        await t.rejects(attempt, { code: 'ERR_STORE_UNAVAILABLE' })
        t.equal(runs, 1)
        t.equal(await read(fromPgPool(direct), 1), 7)
      },
    )

t.test('runs once if its work fails after its COMMIT, also with the error of a conflict', async t => {
  const [pool] = (await open(t, 'read committed')) as [pg.Pool]
  const db = fromPgPool(pool, { retries: 5 })
  const conflict = Object.assign(new Error('a conflict of another transaction'), { code: '40001' })
  let runs = 0
  const attempt = db.transaction(async tx => {
    runs += 1
    await commit(tx, 'update accounts set cents = cents + 1 where id = 1')
    throw conflict
  })
  await t.rejects(attempt, conflict)
  t.equal(runs, 1)
  t.equal(await read(db, 1), 101)
})

t.test('runs again if the database rolled it back at COMMIT', async t => {
  const [pool] = (await open(t, 'read committed')) as [pg.Pool]
  const reasons: string[] = []
  const db = fromPgPool(pool, { retries: 1, onRetry: reason => reasons.push(reason) })
  await rows(
    db,
    `create function conflict() returns trigger language plpgsql as $$ begin
      raise exception 'refused' using errcode = '40001'; end $$`,
  )
  await rows(
    db,
    `create constraint trigger at_commit after update on accounts deferrable initially deferred
      for each row execute function conflict()`,
  )
  const late = [
    (tx: SqlTransaction) => write(tx, 1, 7),
    (tx: SqlTransaction) => commit(tx, 'update accounts set cents = 7 where id = 1'),
  ]
  for (const work of late) {
    let runs = 0
    const attempt = db.transaction(async tx => {
      runs += 1
      await work(tx)
    })
    await t.rejects(attempt, { cause: { code: '40001' } })
    t.equal(runs, 2)
  }
  t.same(reasons, ['serialization', 'serialization'])
})

t.test('prepared statements survive a change of the columns of their tables', async t => {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 3)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  await pool.query('create table notes (id integer primary key, body integer not null)')
  const reasons: string[] = []
  const db = fromPgPool(pool, { prepare: true, retries: 1, onRetry: reason => reasons.push(reason) })
  const all = 'select * from notes where id >= $1'
  const insert = 'insert into notes (id, body) values ($1, 7) returning *'
  const ways: Readonly<Record<string, (id: number) => Promise<unknown>>> = {
    'a statement': async () => rows(db, all, [0]),
    'a transaction': () => db.transaction(tx => rows(tx, all, [0])),
    'a statement that is sent with BEGIN': () =>
      db.transaction(tx => rows(tx, all, [0]), { lazyBegin: true }),
    'a statement that is sent with COMMIT': id =>
      db.transaction(async tx => (tx as Required<SqlTransaction>).commit(insert, [id]), { lazyBegin: true }),
  }
  const onAllConnections = (way: (id: number) => Promise<unknown>, from: number): Promise<unknown> =>
    race(3, index => way(from + index))
  for (const [at, [what, way]] of Object.entries(ways).entries()) {
    await onAllConnections(way, 100 * at)
    await pool.query(`alter table notes add column more_${at} integer default ${at}`)
    reasons.length = 0
    await way(100 * at + 50)
    t.same(reasons, ['plan'], what)
    await onAllConnections(way, 100 * at + 60)
    t.ok(reasons.length <= 3, 'each connection fails at most once')
  }
  const [row] = await rows(db, 'select * from notes where id = $1', [350])
  t.same(row, { id: 350, body: 7, more_0: 0, more_1: 1, more_2: 2, more_3: 3 })
  t.equal((await rows(db, 'select id from notes')).length, 7, 'each insert took effect once')
})
