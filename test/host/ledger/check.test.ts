import { fromPgPool, rows, type SqlClient } from '@gatewright/kernel/sql'
import { createLedger, ledgerAccounts, migrateLedger } from '@gatewright/host'
import { migrateHost, systemAccounts } from '@gatewright/reference-host'
import t from 'tap'
import { withAwaitedQueries } from '../../harness/awaited-queries.ts'
import { internals } from '../../harness/internals.ts'
import { openPostgresPool, openSqlite, uniqueName } from '../../harness/stores.ts'

t.test('compares a ledger that takes longer than a statement of the pool may', async t => {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const db = withAwaitedQueries(fromPgPool(pool))
  await migrateHost(db)
  await migrateLedger(db)
  // Each read of the transactions takes half a second, as those of a large ledger do.
  await rows(db, 'alter table gw_transactions rename to gw_transactions_stored')
  await rows(db, 'create view gw_transactions as select t.* from gw_transactions_stored t, pg_sleep(0.5)')
  await rows(db, 'alter table gw_ledger_transfers rename to gw_ledger_transfers_stored')
  const slow =
    'create view gw_ledger_transfers as select t.* from gw_ledger_transfers_stored t, pg_sleep(0.15)'
  await rows(db, slow)
  await rows(db, 'set statement_timeout = 100')
  const ledger = createLedger(db)
  t.same(await internals.checkLedger(ledger, db, internals.heldMoney), {
    report: { transfers: 0, sumCents: 0, wrongAccounts: [] },
    problems: [],
  })
  t.match(await ledger.check(), { transfers: 0 })
  await t.rejects(ledger.check(50), { code: 'ERR_STORE_UNAVAILABLE' })
  await t.rejects(internals.checkLedger(ledger, db, internals.heldMoney, 50), {
    code: 'ERR_STORE_UNAVAILABLE',
  })
  await t.rejects(rows(db, 'select pg_sleep(0.5)'), 'the limit of the pool is what it was')
})

t.test('says in a sentence what is wrong', async t => {
  const { connections, close } = await openSqlite(1, async db => {
    await migrateHost(db)
    await migrateLedger(db)
  })
  t.teardown(close)
  const db = connections[0] as SqlClient
  const ledger = createLedger(db)
  const { user } = ledgerAccounts
  const { operator } = systemAccounts
  const credit = { id: '1', debit: operator, credit: user('ann'), amountCents: 5, cause: 'x' }
  await db.transaction(tx => ledger.transfer(tx, credit, 1))
  await rows(db, `update gw_ledger_accounts set balance_cents = 1 where id = '${user('ann')}'`)
  t.same((await internals.checkLedger(ledger, db, internals.heldMoney)).problems, [
    'all balances add up to 1 US cents, not to 0',
    'the balance of user:ann is not the sum of its transfers, or it is below zero',
    'user:ann has 6 US cents in the ledger, but the transactions of ann add up to 0',
  ])
})
