import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { withinTransactionScope } from '@gatewright/kernel/internal/sql'
import t from 'tap'
import { openPostgres, openSqlite, type Connections } from '../../harness/stores.ts'

const rejected = { name: 'Fault', code: 'ERR_OUTSIDE_TRANSACTION' }
const table = async (db: SqlClient): Promise<void> => {
  await rows(db, 'create table notes (id integer primary key)')
}
const stores: Record<string, () => Promise<Connections<SqlClient>>> = {
  Postgres: () => openPostgres(2, table),
  SQLite: () => openSqlite(1, table),
}

for (const [name, open] of Object.entries(stores)) {
  t.test(
    `${name}: work in a transaction scope may use its transaction, and not the database directly`,
    async t => {
      const { connections, close } = await open()
      t.teardown(close)
      const db = connections[0] as SqlClient
      await db.transaction(tx =>
        withinTransactionScope(db, async () => {
          await rows(tx, 'insert into notes values (1)')
          await t.rejects(rows(db, 'insert into notes values (2)'), rejected)
          await t.rejects(rows(db, 'select * from notes'), rejected)
          await t.rejects(
            db.transaction(async () => 'never'),
            rejected,
          )
        }),
      )
      t.same(
        await rows(db, 'select id from notes'),
        [{ id: 1 }],
        'a caught rejection does not fail the transaction',
      )
    },
  )

  t.test(`${name}: work of other requests may use the database meanwhile`, async t => {
    const { connections, close } = await open()
    t.teardown(close)
    const db = connections[0] as SqlClient
    let otherRequest: Promise<unknown> | undefined
    const request = (): void => {
      otherRequest = rows(db, 'insert into notes values (2)')
    }
    // As a server would: the other request comes in from outside of the scope.
    const arrives = new Promise<void>(resolve => setImmediate(() => (request(), resolve())))
    await db.transaction(tx =>
      withinTransactionScope(db, async () => {
        await arrives
        await rows(tx, 'insert into notes values (1)')
      }),
    )
    await otherRequest
    t.same(await rows(db, 'select id from notes order by id'), [{ id: 1 }, { id: 2 }])
  })

  t.test(
    `${name}: promises that the work left behind may use the database after it has ended or thrown`,
    async t => {
      const { connections, close } = await open()
      t.teardown(close)
      const db = connections[0] as SqlClient
      for (const fails of [false, true]) {
        let later: (() => Promise<unknown>) | undefined
        const work = withinTransactionScope(db, async () => {
          let go = (): void => {}
          const waiting = new Promise<void>(resolve => (go = resolve)).then(() =>
            rows(db, 'select id from notes'),
          )
          later = () => (go(), waiting)
          if (fails) throw new Error('no')
        })
        await work.catch(() => {})
        t.same(await later?.(), [])
      }
    },
  )
}

t.test('work in a transaction scope of one database may use another', async t => {
  const [one, two] = await Promise.all([openSqlite(1, table), openSqlite(1, table)])
  t.teardown(() => Promise.all([one.close(), two.close()]))
  const [scoped, other] = [one.connections[0] as SqlClient, two.connections[0] as SqlClient]
  t.same(await withinTransactionScope(scoped, () => rows(other, 'select id from notes')), [])
})

t.test('the end of one scope leaves the checks of another, and later scopes are checked again', async t => {
  const { connections, close } = await openSqlite(1, table)
  t.teardown(close)
  const db = connections[0] as SqlClient
  const read = (): Promise<unknown> => rows(db, 'select id from notes')
  let end = (): void => {}
  const ended = new Promise<void>(resolve => (end = resolve))
  const long = withinTransactionScope(db, async () => {
    await ended
    await t.rejects(read(), rejected, 'the other scope has ended')
  })
  await withinTransactionScope(db, async () => t.rejects(read(), rejected))
  end()
  await long
  await withinTransactionScope(db, async () => t.rejects(read(), rejected, 'no scope was open'))
  t.same(await read(), [])
})
