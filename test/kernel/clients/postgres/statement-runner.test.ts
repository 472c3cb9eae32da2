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
