import { fromPgPool, migrate, rows, type SqlClient } from '@gatewright/kernel/sql'
import { lockName } from '@gatewright/kernel/internal/sql'
import t from 'tap'
import { openPostgresPool, openSqlite, uniqueName } from '../../harness/stores.ts'

const ddl = '-- version 1\ncreate table {prefix}notes (id integer primary key)'
const notes = { namespace: 'notes', ddl }

/** Opens three clients with a connection each, in a schema of their own. */
async function open(test: Pick<typeof t, 'teardown'>): Promise<readonly SqlClient[]> {
  const schema = uniqueName()
  const pools = [await openPostgresPool(schema, 1)]
  while (pools.length < 3) pools.push(await openPostgresPool(schema, 1))
  test.teardown(async () => {
    await pools[0]?.query(`drop schema ${schema} cascade`)
    await Promise.all(pools.map(pool => pool.end()))
  })
  const dbs = pools.map(pool => fromPgPool(pool, { retries: 20 }))
  await migrate(dbs[0] as SqlClient, notes)
  return dbs
}

/** Resolves when a server process waits for a lock. */
async function untilItWaits(db: SqlClient, pid: unknown): Promise<void> {
  const text = "select 1 from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'"
  while ((await rows(db, text, [Number(pid)])).length === 0);
}

const locks = [
  { kind: 'things', id: 'one' },
  { kind: 'money', accountId: 'a' },
]
for (const lock of locks)
  t.test(`a transaction that locks ${lock.kind} waits for another, then sees its rows`, async t => {
    const [one, two, third] = (await open(t)) as [SqlClient, SqlClient, SqlClient]
    let waiting: Promise<unknown> | undefined
    await one.transaction(async tx => {
      await lockName(tx, 'gw_', lock)
      await rows(tx, 'insert into gw_notes (id) values (1)')
      await two.transaction(async other => {
        await lockName(other, 'gw_', { ...lock, kind: 'other' })
        t.same(await rows(other, 'select id from gw_notes'), [], 'another name is free')
      })
      const [process] = await rows(two, 'select pg_backend_pid() as pid')
      waiting = two.transaction(async other => {
        await lockName(other, 'gw_', lock)
        return rows(other, 'select id from gw_notes')
      })
      await untilItWaits(third, process?.['pid'])
    })
    t.same(await waiting, [{ id: 1 }])
  })

t.test('a lock ends when its transaction is rolled back', async t => {
  const [one, two] = (await open(t)) as [SqlClient, SqlClient]
  const attempt = one.transaction(async tx => {
    await lockName(tx, 'gw_', { kind: 'things', id: 'one' })
    await rows(tx, 'select 1')
    throw new Error('roll back')
  })
  await t.rejects(attempt, { message: 'roll back' })
  await two.transaction(async tx => {
    await lockName(tx, 'gw_', { kind: 'things', id: 'one' })
    t.equal((await rows(tx, 'select 1')).length, 1)
  })
})

t.test('ids without an account share a bounded number of rows, an account has one', async t => {
  const [db] = (await open(t)) as [SqlClient]
  for (let id = 0; id < 200; id++)
    await db.transaction(async tx => {
      await lockName(tx, 'gw_', { kind: 'things', id: String(id) })
      await lockName(tx, 'gw_', { kind: 'money', accountId: `account ${id % 2}` })
    })
  const counted = `select account_id = '' as shared, count(*) as rows, sum(times) as times, max(length(name)) as letters
    from gw_lock_rows where name not like 'migrate%' group by 1 order by 1`
  const [own, shared] = await rows(db, counted)
  t.match(own, { rows: '2', times: '200' })
  t.match(shared, { times: '200', letters: 'things:'.length + 2 })
})

t.test('SQLite needs no lock', async t => {
  const { connections, close } = await openSqlite(1, async () => {})
  t.teardown(close)
  await connections[0]?.transaction(tx => lockName(tx, 'gw_', { kind: 'things', id: 'one' }))
  t.same(await rows(connections[0] as SqlClient, "select name from sqlite_master where type = 'table'"), [])
})
