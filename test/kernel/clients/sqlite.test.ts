import { fromSqlite, rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import t from 'tap'
import { openSqlite } from '../../harness/stores.ts'

const unavailable = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }
type Tap = Pick<typeof t, 'teardown'>

/** One client over a file of its own (writer and reader), with a table of two columns. */
async function open(t: Tap): Promise<SqlClient> {
  const { connections, close } = await openSqlite(1, async db => {
    await rows(db, 'create table notes (id integer primary key, body text)')
  })
  t.teardown(close)
  return connections[0] as SqlClient
}

const insert = (db: SqlQueries, id: number): Promise<unknown> =>
  rows(db, 'insert into notes (id, body) values ($1, $2)', [id, `note ${id}`])
const ids = async (db: SqlQueries): Promise<unknown[]> =>
  (await rows(db, 'select id from notes order by id')).map(row => row['id'])
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('lets other work of the process run between transactions and writes that wait in line', async t => {
  const db = await open(t)
  const slow =
    'with recursive n (i) as (select 1 union all select i + 1 from n where i < 8000) select count(*) from n'
  let ended = 0
  const all = Array.from({ length: 20 }, (_, id) =>
    (id % 4 === 0
      ? insert(db, id)
      : db.transaction(async tx => {
          await rows(tx, slow)
          await insert(tx, id)
        })
    ).then(() => ended++),
  )
  const seen: number[] = []
  while (ended < all.length) {
    await turn()
    seen.push(ended)
  }
  await Promise.all(all)
  const steps = seen.map((count, index) => count - (seen[index - 1] ?? 0))
  t.ok(Math.max(...steps) <= 3, `ended in each turn of the event loop: ${steps.join()}`)
  t.equal((await ids(db)).length, all.length)
})

t.test('throws a fault for a parameter without a value, and writes nothing', async t => {
  const db = await open(t)
  await t.rejects(rows(db, 'insert into notes (id, body) values ($1, $2)', [1]), unavailable)
  t.same(await ids(db), [])
})

t.test(
  'throws a fault for a value that drivers cannot bind, of which libsql would end the process',
  async t => {
    const db = await open(t)
    for (const value of [true, false, {}, [], Symbol('s'), () => 1]) {
      const values = [1, value] as never
      await t.rejects(rows(db, 'insert into notes (id, body) values ($1, $2)', values), unavailable)
      await t.rejects(rows(db, 'select $1 as a, $2 as b', values), unavailable)
    }
    t.same(await ids(db), [])
  },
)

t.test('throws a fault for a failed statement, and runs the next in the queue', async t => {
  const db = await open(t)
  const attempt = db.transaction(async tx => {
    await insert(tx, 1)
    await insert(tx, 1)
  })
  await t.rejects(attempt, unavailable)
  await t.rejects(rows(db, 'insert into nowhere values (1)'), unavailable)
  await insert(db, 2)
  t.same(await ids(db), [2])
})

t.test('runs every transaction after a write that found the database locked by another process', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-locked-'))
  const [writer, other] = [0, 1].map(() => new Database(join(folder, 'test.sqlite'))) as [
    Database.Database,
    Database.Database,
  ]
  t.teardown(() => {
    for (const database of [writer, other]) database.close()
    rmSync(folder, { recursive: true })
  })
  writer.exec('pragma journal_mode = wal; create table notes (id integer primary key, body text)')
  const db = fromSqlite(writer)
  await insert(db, 1)
  for (const text of [
    "insert into notes (id, body) values (2, 'x')",
    "insert into notes (id, body) values (3, 'x') returning id",
    "update notes set body = 'y' where id = 1",
    "update notes set body = 'y' returning id",
    'delete from notes where id = 9',
    "with n as (select 4 as id) insert into notes (id, body) select id, 'x' from n",
    'create table others (id integer)',
  ]) {
    other.exec('begin immediate')
    await t.rejects(rows(db, text), unavailable, `locked: ${text}`)
    await t.rejects(
      db.transaction(tx => ids(tx)),
      unavailable,
    )
    other.exec('commit')
    await t.resolves(
      db.transaction(tx => ids(tx)),
      `a transaction after ${text}`,
    )
    await t.resolves(rows(db, text), `again: ${text}`)
  }
  t.same(await ids(db), [1, 2, 3, 4])
})

t.test('runs a statement by itself that no transaction may hold', async t => {
  const db = await open(t)
  t.same(await rows(db, 'pragma foreign_keys'), [{ foreign_keys: 1 }])
  await t.resolves(rows(db, 'vacuum'))
})

t.test('throws a fault and rolls back when a constraint fails at the commit', async t => {
  const db = await open(t)
  await rows(db, 'pragma foreign_keys = on')
  await rows(db, 'create table replies (note integer references notes (id) deferrable initially deferred)')
  await t.rejects(
    db.transaction(tx => rows(tx, 'insert into replies (note) values (99)')),
    unavailable,
  )
  t.same(await rows(db, 'select * from replies'), [])
  await insert(db, 1)
  t.same(await ids(db), [1])
})

t.test('makes writes of other callers wait until an open transaction ends', async t => {
  const db = await open(t)
  const order: string[] = []
  const first = db.transaction(async tx => {
    await insert(tx, 1)
    for (let n = 0; n < 5; n++) await turn()
    order.push('first ends')
    throw new Error('roll back')
  })
  const otherCaller = insert(db, 2)
  const second = db.transaction(async tx => {
    order.push('second starts')
    t.same(await ids(tx), [2], 'after the other write, without what was rolled back')
    await insert(tx, 3)
  })
  await Promise.all([first.catch(() => {}), otherCaller, second])
  t.same(order, ['first ends', 'second starts'])
  t.same(await ids(db), [2, 3])
})

t.test('reads committed rows without waiting for an open transaction', async t => {
  const db = await open(t)
  await insert(db, 1)
  await db.transaction(async tx => {
    await insert(tx, 2)
    t.same(await ids(db), [1])
    t.same(await ids(tx), [1, 2])
  })
  t.same(await ids(db), [1, 2])
})

t.test('sends SELECT in any letter case to the reader, and never a write', async t => {
  const db = await open(t)
  await db.transaction(async () => {
    t.same(await rows(db, '\n  SELECT count(*) as n from notes'), [{ n: 0 }])
  })
  t.same(await rows(db, 'with x as (select 1 as one) select one from x'), [{ one: 1 }])
})

t.test('queues reads too when there is no reader', async t => {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  const db = fromSqlite(database)
  await rows(db, 'create table notes (id integer primary key, body text)')
  const writing = db.transaction(async tx => {
    await insert(tx, 1)
    await turn()
    throw new Error('roll back')
  })
  const reading = ids(db)
  await writing.catch(() => {})
  t.same(await reading, [], 'the read did not see what was rolled back')
})

t.test('throws a fault when the database is closed', async t => {
  const database = new Database(':memory:')
  const db = fromSqlite(database)
  await rows(db, 'select 1')
  database.close()
  await t.rejects(rows(db, 'select 2'), unavailable)
  await t.rejects(
    db.transaction(async () => 'never'),
    unavailable,
  )
})
