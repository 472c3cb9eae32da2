import { fromPgPool, rows } from '@gatewright/kernel/sql'
import t from 'tap'
import { openPostgresPool, uniqueName } from '../../../harness/stores.ts'

for (const lazyBegin of [false, true])
  t.test(`recovers from one failed transaction after a migration, with lazyBegin ${lazyBegin}`, async t => {
    const schema = uniqueName()
    const pool = await openPostgresPool(schema, 2)
    t.teardown(async () => {
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    })
    await pool.query('create table notes (id integer primary key)')
    const db = fromPgPool(pool, { prepare: true })
    const first = () =>
      db.transaction(
        async tx => {
          await tx.query('select $1::int', [1])
          return rows(tx, 'select * from notes where id = $1', [1])
        },
        { lazyBegin },
      )
    await pool.query('insert into notes (id) values (1)')
    t.same(await first(), [{ id: 1 }])
    await pool.query("alter table notes add column text text default 'new'")
    await t.rejects(first(), {
      name: 'Fault',
      code: 'ERR_STORE_UNAVAILABLE',
      cause: { code: '0A000' },
    })
    t.same(await first(), [{ id: 1, text: 'new' }])
  })

/** Statements that fail with an error after which the server would refuse the next write on this connection as well. */
const LASTING = {
  '25006': "do $$ begin raise 'read-only' using errcode = '25006'; end $$",
  '57P01': "do $$ begin raise 'shutdown' using errcode = '57P01'; end $$",
  '57P02': "do $$ begin raise 'crash' using errcode = '57P02'; end $$",
  '57P03': "do $$ begin raise 'starting' using errcode = '57P03'; end $$",
}

for (const [code, text] of Object.entries(LASTING))
  for (const lazyBegin of [false, true])
    t.test(
      `replaces the connection of a transaction that failed with ${code}, lazyBegin ${lazyBegin}`,
      async t => {
        const pool = await openPostgresPool(uniqueName(), 1)
        t.teardown(() => pool.end())
        const db = fromPgPool(pool, { prepare: true })
        const connection = async (): Promise<unknown> =>
          db.transaction(async tx => (await rows(tx, 'select pg_backend_pid() as pid'))[0]?.['pid'], {
            lazyBegin,
          })
        const first = await connection()
        t.equal(await connection(), first, 'it is used again after a success')
        const failed = (statement: string): Promise<unknown> =>
          db.transaction(tx => tx.query(statement), { lazyBegin })
        await t.rejects(failed('select 1 / 0'), { cause: { code: '22012' } })
        t.equal(await connection(), first, 'and after an error of the statement alone')
        await t.rejects(failed(text), { cause: { code } })
        t.not(await connection(), first)
      },
    )
