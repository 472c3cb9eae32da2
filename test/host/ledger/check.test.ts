import { fromPgPool, rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { ledgerAccounts } from '@gatewright/host/internal'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import t, { type Test } from 'tap'
import { withAwaitedQueries } from '../../harness/databases/awaited-queries.ts'
import { ON_CITUS } from '../../harness/databases/citus.ts'
import * as internals from '../../harness/internals.ts'
import { openPostgres, openPostgresPool, openSqlite, uniqueName } from '../../harness/stores.ts'

// Citus reads no `pg_sleep` in a view.
if (!ON_CITUS)
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
    await rows(db, 'alter table gw_ledger_legs rename to gw_ledger_legs_stored')
    const slow = 'create view gw_ledger_legs as select t.* from gw_ledger_legs_stored t, pg_sleep(0.15)'
    await rows(db, slow)
    await rows(db, 'set statement_timeout = 100')
    const ledger = createLedger(db)
    t.same(await internals.checkLedger(db, internals.heldMoney), {
      report: { transfers: 0, added: 0, sumCents: 0, wrongAccounts: [], wrongTransfers: [] },
      problems: [],
    })
    t.match(await ledger.check(), { transfers: 0 })
    await t.rejects(ledger.check(50), { code: 'ERR_STORE_UNAVAILABLE' })
    await t.rejects(internals.checkLedger(db, internals.heldMoney, { statementMs: 50 }), {
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
  t.same((await internals.checkLedger(db, internals.heldMoney)).problems, [
    'all balances add up to 1 US cents, not to 0',
    'the balance of user:ann is not the sum of its transfers, or it is below zero',
    'user:ann has 6 US cents in the ledger, but the transactions of ann add up to 0',
  ])
})

/** When a transfer is made that may not be settled yet. */
const now = () => ({ at: Date.now() })

/** What a check reads where the machines have no common snapshot: the balances without a transfer that its legs have. */
const TORN = `with gw_ledger_tail as (select * from gw_ledger_tail where ledger_account <> 'user:ann'), sums as`

/** Opens a ledger on Postgres with connections of its own, and what checks it. */
async function openChecked(t: Test, count = 1) {
  const migrate = async (db: SqlClient): Promise<void> => {
    await migrateHost(db)
    await migrateLedger(db)
  }
  const { connections, close } = await openPostgres(count, migrate)
  t.teardown(close)
  const [db, ...others] = connections.map(withAwaitedQueries) as [SqlClient, ...SqlClient[]]
  const ledger = createLedger(db)
  const money = internals.createMoney(ledger)
  /** Credits an account an hour ago or now, with or without the row that shows it to the account. */
  const credit = async (
    tx: SqlQueries,
    accountId: string,
    amountCents: number,
    { shown = true, at = Date.now() - 3_600_000 } = {},
  ) => {
    const id = uniqueName()
    const { operator } = systemAccounts
    const transfer = { id, debit: operator, credit: ledgerAccounts.user(accountId), amountCents, cause: 'x' }
    if (!shown) return ledger.transfer(tx, transfer, at)
    const source = { kind: 'credit', id }
    const entry = {
      accountId,
      source,
      type: 'collateral',
      status: 'completed',
      amountCents,
      direction: 'credit',
      description: 'Credit',
    } as const
    return money.move(tx, transfer, [entry], at)
  }
  return {
    db,
    others,
    ledger,
    credit,
    check: (full = false) => internals.checkLedger(db, internals.heldMoney, { full }),
    tamper: (accountId: string) =>
      rows(db, 'update gw_ledger_accounts set balance_cents = balance_cents + 1 where id = $1', [
        ledgerAccounts.user(accountId),
      ]),
  }
}

t.test('adds up only the transfers since the last check that found nothing wrong', async t => {
  const { db, ledger, credit, check } = await openChecked(t)
  for (const accountId of ['ann', 'bob']) await db.transaction(tx => credit(tx, accountId, 5))
  t.match(await check(), { report: { transfers: 2, added: 2, sumCents: 0 }, problems: [] })
  t.match(await check(), { report: { transfers: 2, added: 0, sumCents: 0 }, problems: [] })
  await db.transaction(tx => credit(tx, 'ann', 7, now()))
  await ledger.fold(10, error => t.error(error))
  t.match(await check(), { report: { transfers: 3, added: 1 }, problems: [] })
  t.match(await check(true), { report: { transfers: 3, added: 3 }, problems: [] })
  // Until it was made ten minutes ago, a transfer that was made before it may still commit.
  t.match(await check(), { report: { transfers: 3, added: 1 }, problems: [] })
})

t.test('finds what is wrong after the position, again with each check until it is repaired', async t => {
  const { db, credit, check } = await openChecked(t)
  await db.transaction(tx => credit(tx, 'ann', 5))
  t.same((await check()).problems, [])
  await db.transaction(tx => credit(tx, 'bob', 3, { shown: false, ...now() }))
  for (let again = 0; again < 2; again++) {
    const { report, problems } = await check()
    t.match(report, { transfers: 2, added: 1 })
    t.same(problems, ['user:bob has 3 US cents in the ledger, but the transactions of bob add up to 0'])
  }
})

t.test('finds a balance that was changed without a transfer, wherever its transfers are', async t => {
  const { db, credit, check, tamper } = await openChecked(t)
  await db.transaction(tx => credit(tx, 'ann', 5))
  t.same((await check()).problems, [])
  await tamper('ann')
  t.same((await check()).problems, [
    'all balances add up to 1 US cents, not to 0',
    'the balance of user:ann is not the sum of its transfers, or it is below zero',
  ])
})

t.test('finds transactions that were changed before the position with full only', async t => {
  const { db, credit, check } = await openChecked(t)
  await db.transaction(tx => credit(tx, 'ann', 5))
  t.same((await check()).problems, [])
  await rows(db, 'update gw_transactions set amount_cents = 4')
  t.same((await check()).problems, [])
  const wrong = 'user:ann has 5 US cents in the ledger, but the transactions of ann add up to 4'
  t.same((await check(true)).problems, [wrong])
  await db.transaction(tx => credit(tx, 'ann', 1, now()))
  t.match(
    (await check()).problems.length,
    1,
    'a new transfer of the account has all of its transactions compared',
  )
})

t.test('never skips a transfer that was made before a check and commits after it', async t => {
  const { db, others, credit, check } = await openChecked(t, 3)
  const [late, later] = others as [SqlClient, SqlClient]
  await db.transaction(tx => credit(tx, 'ann', 5))
  await late.transaction(async tx => {
    await credit(tx, 'bob', 3, { shown: false })
    await credit(tx, 'ann', 3)
    await later.transaction(tx2 => credit(tx2, 'cy', 2))
    t.match(await check(), { report: { transfers: 2, added: 2 }, problems: [] })
    t.match(await check(), { report: { transfers: 2, added: 0 }, problems: [] })
  })
  const wrong = 'user:bob has 3 US cents in the ledger, but the transactions of bob add up to 0'
  t.same((await check()).problems, [wrong])
  t.same((await check()).problems, [wrong], 'nothing is stored while something is wrong')
  const shown = `insert into gw_transactions (id, account_id, source_kind, source_id, part, type, status, amount_cents, direction,
      description, created_at, updated_at) values ('txn_1', 'bob', 'x', 'x', '', 'collateral', 'completed', 3, 'credit', 'x', 1, 1)`
  await rows(db, shown)
  t.match(await check(), { report: { wrongAccounts: [] }, problems: [] })
  t.match(await check(), { report: { transfers: 4, added: 0 }, problems: [] }, 'its sums are stored')
})

t.test('reports no account that is right when it is added up again', async t => {
  const { db, others, credit, ledger } = await openChecked(t, 2)
  const other = others[0] as SqlClient
  await db.transaction(tx => credit(tx, 'ann', 5))
  // A statement that reads several machines can see one leg without the other, and a balance without its transfer.
  const torn: SqlClient = {
    ...db,
    transaction: (work, options) =>
      db.transaction(
        tx => work({ ...tx, query: (text, values) => tx.query(text.replace('with sums as', TORN), values) }),
        options,
      ),
  }
  t.match(await createLedger(torn).check(), { sumCents: 0, wrongAccounts: [], wrongTransfers: [] })
  await rows(
    other,
    `update gw_ledger_accounts set balance_cents = 3 where id = '${ledgerAccounts.user('ann')}'`,
  )
  t.match(await ledger.check(), { sumCents: 3, wrongAccounts: [ledgerAccounts.user('ann')] })
})

t.test('adds up every transfer once while transfers commit and two checks run at once', async t => {
  const { db, others, ledger, credit, check } = await openChecked(t, 4)
  const [other, ...writing] = others as [SqlClient, ...SqlClient[]]
  const write = async (on: SqlClient): Promise<void> => {
    for (let round = 0; round < 40; round++)
      await on.transaction(tx => credit(tx, `user-${round % 7}`, round + 1, now()))
  }
  const all = { written: false }
  const checkOften = async (on: SqlClient): Promise<void> => {
    while (!all.written) t.same((await internals.checkLedger(on, internals.heldMoney)).problems, [])
  }
  const checks = [checkOften(db), checkOften(other)]
  await Promise.all(writing.map(write)).finally(() => {
    all.written = true
  })
  await Promise.all(checks)
  t.same((await check()).problems, [])
  t.match(await check(), { report: { transfers: 80, added: 80 }, problems: [] })
  t.match(await ledger.check(), { transfers: 80, sumCents: 0, wrongAccounts: [] })
})
