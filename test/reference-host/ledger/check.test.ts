import { fromPgPool, rows } from '@gatewright/kernel/sql'
import { createLedger, migrateHost, migrateLedger } from '@gatewright/reference-host'
import t from 'tap'
import { internals } from '../../harness/internals.ts'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'

t.test('compares a ledger that takes longer than a statement of the pool may', async t => {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const db = fromPgPool(pool)
  await migrateHost(db, 'postgres')
  await migrateLedger(db, 'postgres')
  // Each read of the transactions takes half a second, as those of a large ledger do.
  await rows(db, 'alter table gw_transactions rename to gw_transactions_stored')
  await rows(db, 'create view gw_transactions as select t.* from gw_transactions_stored t, pg_sleep(0.5)')
  await rows(db, 'set statement_timeout = 100')
  const ledger = createLedger(db, 'postgres')
  t.same(await internals.checkLedger(ledger, db, 'postgres'), {
    report: { transfers: 0, sumCents: 0, wrongAccounts: [] },
    problems: [],
  })
  await t.rejects(internals.checkLedger(ledger, db, 'postgres', 50), { code: 'ERR_STORE_UNAVAILABLE' })
  await t.rejects(rows(db, 'select pg_sleep(0.5)'), 'the limit of the pool is what it was')
})
