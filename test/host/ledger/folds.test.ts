import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { ledgerAccounts } from '@gatewright/host/internal'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateLedger, type Transfer } from '#packages/host/dist/ledger/ledger.js'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import t, { type Test } from 'tap'
import { withAwaitedQueries } from '../../harness/databases/awaited-queries.ts'
import { openKeptPostgres } from '../../harness/databases/kept-postgres.ts'
import { randomCases } from '../../harness/random-cases.ts'
import { openPostgres, openSqlite, uniqueName } from '../../harness/stores.ts'

const NOW = 1_767_225_600_000
const { user } = ledgerAccounts
const { operator } = systemAccounts

function onBoth(
  title: string,
  run: (t: Test, dbs: readonly SqlClient[], dialect: SqlDialect) => Promise<void>,
): void {
  for (const dialect of ['postgres', 'sqlite'] as const) {
    t.test(`${dialect}: ${title}`, async t => {
      const open = dialect === 'postgres' ? openKeptPostgres : openSqlite
      const count = dialect === 'postgres' ? 2 : 1
      const { connections, close } = await open(count, migrateLedger)
      t.teardown(close)
      await run(t, connections.map(withAwaitedQueries), dialect)
    })
  }
}

const credit = (accountId: string, amountCents: number, id = uniqueName()): Transfer => ({
  id,
  debit: operator,
  credit: user(accountId),
  amountCents,
  cause: 'test',
})

const debit = (from: string, to: string, amountCents: number): Transfer => ({
  id: uniqueName(),
  debit: user(from),
  cover: { exempt: 'operator_correction' },
  credit: user(to),
  amountCents,
  cause: 'test',
})

/** Credits three users, so that four accounts have pending amounts. */
async function creditThree(db: SqlClient): Promise<void> {
  const ledger = createLedger(db)
  for (const [accountId, cents] of [
    ['ann', 5],
    ['bob', 7],
    ['cy', 11],
  ] as const)
    await db.transaction(tx => ledger.transfer(tx, credit(accountId, cents), NOW))
}

async function pendingAccounts(db: SqlClient): Promise<unknown[]> {
  const text = 'select distinct ledger_account from gw_ledger_tail order by ledger_account'
  return (await rows(db, text)).map(row => row['ledger_account'])
}

/** The stored balances, without pending amounts. */
async function storedBalances(db: SqlClient): Promise<unknown[]> {
  const text = 'select id, balance_cents from gw_ledger_accounts order by id'
  return (await rows(db, text)).map(row => [row['id'], Number(row['balance_cents'])])
}

const fail = (error: unknown): never => {
  throw error
}

onBoth('adds all pending amounts to the balances, few accounts at a time', async (t, [db]) => {
  for (const accounts of [1, 2, 10]) {
    await creditThree(db!)
    t.same(await pendingAccounts(db!), [operator, user('ann'), user('bob'), user('cy')])
    await createLedger(db!).fold(accounts, fail)
    t.same(await pendingAccounts(db!), [], `${accounts} at a time`)
  }
  t.same(await storedBalances(db!), [
    [operator, -69],
    [user('ann'), 15],
    [user('bob'), 21],
    [user('cy'), 33],
  ])
})

onBoth('a range that fails is reported and stays pending, and the next ones are folded', async (t, [db]) => {
  await creditThree(db!)
  let begun = 0
  const failing: SqlClient = {
    ...db!,
    query: (text, values) => db!.query(text, values),
    transaction: work =>
      ++begun === 3 ? Promise.reject(new Error('the third range')) : db!.transaction(work),
  }
  const errors: unknown[] = []
  await createLedger(failing).fold(1, error => void errors.push(error))
  t.match(errors, [{ message: 'the third range' }])
  t.same(await pendingAccounts(db!), [user('bob')])
  t.same(await storedBalances(db!), [
    [operator, -23],
    [user('ann'), 5],
    [user('bob'), 0],
    [user('cy'), 11],
  ])
})

t.test(
  'postgres: a fold waits for no transfer, and leaves the accounts pending that others debit',
  async t => {
    const { connections, close } = await openPostgres(2, db => migrateLedger(db))
    t.teardown(close)
    const [db, other] = connections.map(withAwaitedQueries) as [SqlClient, SqlClient]
    await creditThree(db)
    // A fold that waited would hold locks that the second debit needs.
    await rows(db, "set lock_timeout = '200ms'")
    const ledger = createLedger(db)
    await other.transaction(async tx => {
      await ledger.transfer(tx, debit('cy', 'bob', 1), NOW)
      await ledger.fold(10, fail)
      t.same(await pendingAccounts(db), [user('cy')])
      await ledger.transfer(tx, debit('bob', 'ann', 1), NOW)
      await ledger.fold(10, fail)
    })
    await ledger.fold(10, fail)
    t.same(await pendingAccounts(db), [])
    t.match(await ledger.check(), { transfers: 5, sumCents: 0, wrongAccounts: [] })
  },
)

t.test('postgres: an account is folded by one of two hosts that fold at once', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateLedger)
  t.teardown(close)
  const [db, other] = connections.map(withAwaitedQueries) as [SqlClient, SqlClient]
  const rounds = randomCases(20)
  for (let round = 0; round < rounds; round++) {
    await creditThree(db)
    await Promise.all([createLedger(db).fold(10, fail), createLedger(other).fold(2, fail)])
    await createLedger(db).fold(10, fail)
    t.same(await pendingAccounts(db), [])
  }
  t.match(await createLedger(db).check(), { transfers: rounds * 3, sumCents: 0, wrongAccounts: [] })
})

t.test('postgres: transfers that debit accounts in any order never deadlock with folds', async t => {
  const { connections, close } = await openKeptPostgres(6, migrateLedger)
  t.teardown(close)
  const [folding, alsoFolding, ...writing] = connections.map(withAwaitedQueries) as [
    SqlClient,
    SqlClient,
    ...SqlClient[],
  ]
  const ledger = createLedger(folding)
  for (const accountId of ['ann', 'bob', 'cy'])
    await folding.transaction(tx => ledger.transfer(tx, credit(accountId, 100_000), NOW))
  const all = { written: false }
  const outcomes = new Set<string>()
  const rounds = randomCases(60)
  // The writers lock one after the other, in the reverse of the order in which a fold would take all.
  const write = async (db: SqlClient): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      await db.transaction(async tx => {
        outcomes.add(await ledger.transfer(tx, debit('cy', 'bob', 1), NOW))
        outcomes.add(await ledger.transfer(tx, debit('bob', 'ann', 1), NOW))
        outcomes.add(await ledger.transfer(tx, debit('ann', 'cy', 1), NOW))
      })
    }
  }
  const fold = async (db: SqlClient): Promise<void> => {
    while (!all.written) await createLedger(db).fold(10, fail)
  }
  const folds = [fold(folding), fold(alsoFolding)]
  await Promise.all(writing.map(write)).finally(() => {
    all.written = true
  })
  await Promise.all(folds)
  t.same([...outcomes], ['done'])
  const transfers = 3 + writing.length * rounds * 3
  t.match(await ledger.check(), { transfers, sumCents: 0, wrongAccounts: [] })
})

onBoth(
  'a debit is taken from the stored balance, and folds an account that has less there',
  async (t, [db]) => {
    const ledger = createLedger(db!)
    const move = (transfer: Transfer) => db!.transaction(tx => ledger.transfer(tx, transfer, NOW))
    await move(credit('ann', 1000))
    t.equal(await move(debit('ann', 'bob', 1)), 'done')
    t.same(await pendingAccounts(db!), [operator, user('bob')], 'nothing was stored of ann')
    await move(credit('ann', 1))
    t.equal(await move(debit('ann', 'bob', 999)), 'done')
    t.same(await pendingAccounts(db!), [operator, user('ann'), user('bob')], 'the stored balance was enough')
    t.equal(await move(debit('ann', 'bob', 2)), 'insufficient')
    t.equal(await move(debit('ann', 'bob', 1)), 'done')
    t.same(await storedBalances(db!), [
      [user('ann'), 0],
      [user('bob'), 0],
    ])
    t.match(await ledger.check(), { transfers: 5, sumCents: 0, wrongAccounts: [] })
  },
)

onBoth('a repeated or conflicting debit takes nothing', async (t, [db]) => {
  const ledger = createLedger(db!)
  const move = (transfer: Transfer) => db!.transaction(tx => ledger.transfer(tx, transfer, NOW))
  await move(credit('ann', 1000))
  const first = debit('ann', 'bob', 10)
  t.equal(await move(first), 'done')
  t.equal(await move(first), 'repeated')
  t.equal(await move({ ...first, amountCents: 11 }), 'conflict')
  t.equal(await move({ ...debit('bob', 'ann', 1), id: first.id }), 'conflict')
  t.equal(await ledger.balance(db!, user('ann')), 990)
  t.equal(await ledger.balance(db!, user('bob')), 10)
  t.match(await ledger.check(), { transfers: 2, sumCents: 0, wrongAccounts: [] })
})

onBoth('a debit folds its account once 64 credits are pending', async (t, [db]) => {
  const ledger = createLedger(db!)
  const move = (transfer: Transfer) => db!.transaction(tx => ledger.transfer(tx, transfer, NOW))
  await move(credit('ann', 1000))
  await ledger.fold(10, fail)
  for (let credited = 0; credited < 63; credited++) await move(credit('ann', 1))
  await move(debit('ann', 'bob', 1))
  t.ok((await pendingAccounts(db!)).includes(user('ann')))
  await move(credit('ann', 1))
  await move(debit('ann', 'bob', 1))
  t.same(await pendingAccounts(db!), [operator, user('bob')])
  t.equal(await ledger.balance(db!, user('ann')), 1062)
  t.match(await ledger.check(), { transfers: 67, sumCents: 0, wrongAccounts: [] })
})

onBoth('a debit of an account that may be overdrawn folds nothing', async (t, [db]) => {
  const ledger = createLedger(db!)
  for (let credited = 0; credited < 70; credited++)
    await db!.transaction(tx => ledger.transfer(tx, credit('ann', 1), NOW))
  t.same(await pendingAccounts(db!), [operator, user('ann')])
})

onBoth('says when a transfer was made', async (t, [db]) => {
  const ledger = createLedger(db!)
  await db!.transaction(tx => ledger.transfer(tx, credit('ann', 1, 'deposit:1'), NOW))
  t.equal(await ledger.transferredAt(db!, 'ann', 'deposit:1'), NOW)
  t.equal(await ledger.transferredAt(db!, 'ann', 'deposit:2'), undefined)
  t.equal(await ledger.transferredAt(db!, 'bob', 'deposit:1'), undefined)
})

onBoth('throws for an amount that is no positive integer, and moves nothing', async (t, [db]) => {
  const ledger = createLedger(db!)
  for (const amountCents of [0, -1, 1.5, Number.NaN, 2 ** 53]) {
    const moved = db!.transaction(tx => ledger.transfer(tx, credit('ann', amountCents), NOW))
    await t.rejects(moved, { name: 'TypeError', message: /safe integer of at least 1/ }, `${amountCents}`)
  }
  t.match(await ledger.check(), { transfers: 0 })
})
