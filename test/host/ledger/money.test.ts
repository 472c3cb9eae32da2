import { newId } from '@gatewright/host'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { race } from '@gatewright/kernel/testing'
import { ledgerAccounts } from '@gatewright/host/internal'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateLedger, type Transfer } from '#packages/host/dist/ledger/ledger.js'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'
import t, { type Test } from 'tap'
import { withAwaitedQueries } from '../../harness/databases/awaited-queries.ts'
import * as internals from '../../harness/internals.ts'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

const { accountsThatDiffer, heldMoney, createMoney, describeDifference } = internals
const NOW = 1_767_225_600_000
const { contract, held, user } = ledgerAccounts
const { operator, revenue } = systemAccounts
type Entry = Parameters<ReturnType<typeof createMoney>['move']>[2][number]

const credit = (accountId: string, amountCents: number, id = newId('test')): Transfer => ({
  id,
  debit: operator,
  credit: user(accountId),
  amountCents,
  cause: 'credit',
})
const debit = (from: string, to: string, amountCents: number, exempt: string): Transfer =>
  ({ id: newId('test'), debit: from, credit: to, amountCents, cause: 'x', cover: { exempt } }) as Transfer
const entry = (accountId: string, amountCents: number, more: Partial<Entry> = {}): Entry => ({
  accountId,
  source: { kind: 'test', id: newId('test') },
  type: 'collateral',
  status: 'completed',
  amountCents,
  direction: 'credit',
  description: 'A test',
  ...more,
})

interface LedgerSetUp {
  readonly dbs: readonly SqlClient[]
  readonly dialect: SqlDialect
  move(transfer: Transfer, entries?: readonly Entry[], at?: number): Promise<string>
  count(): Promise<number>
}

function onBoth(title: string, run: (t: Test, opened: LedgerSetUp) => Promise<void>): void {
  for (const dialect of ['postgres', 'sqlite'] as const) {
    t.test(`${dialect}: ${title}`, async t => {
      const open = dialect === 'postgres' ? openPostgres : openSqlite
      const { connections, close } = await open(dialect === 'postgres' ? 4 : 1, async db => {
        await migrateLedger(db)
        await migrateHost(db)
      })
      t.teardown(close)
      const dbs = connections.map(withAwaitedQueries)
      const of = (n: number): SqlClient => dbs[n % dbs.length] as SqlClient
      await run(t, {
        dbs,
        dialect,
        move(transfer, entries = [], at = 0) {
          const money = createMoney(createLedger(of(at)))
          return of(at).transaction(tx => money.move(tx, transfer, entries, NOW))
        },
        count: async () => (await rows(of(0), 'select id from gw_transactions')).length,
      })
    })
  }
}

onBoth('refuses to change the balance of a user without a row for that user', async (t, opened) => {
  const { move, count, dbs } = opened
  const missing = { name: 'TypeError', message: /changes user:ann without a transaction row/ }
  await t.rejects(move(credit('ann', 5)), missing)
  await t.rejects(move(credit('ann', 5), [entry('bob', 5)]), missing)
  t.equal(await createLedger(dbs[0]!).balance(dbs[0]!, user('ann')), 0)
  t.equal(await count(), 0)
  t.equal(await move(credit('ann', 5), [entry('ann', 5)]), 'done')
  const between = debit(user('ann'), user('bob'), 1, 'operator_correction')
  await t.rejects(move(between, [entry('bob', 1)]), missing)
})

onBoth('writes the rows once, together with the transfer', async (t, { move, count, dbs }) => {
  const transfer = credit('ann', 500, 'credit:1')
  t.equal(await move(transfer, [entry('ann', 500)]), 'done')
  t.equal(await move(transfer, [entry('ann', 500)]), 'repeated')
  t.equal(await move({ ...transfer, amountCents: 501 }, [entry('ann', 501)]), 'conflict')
  const tooMuch = debit(user('ann'), revenue, 501, 'operator_correction')
  t.equal(await move(tooMuch, [entry('ann', 501, { direction: 'debit' })]), 'insufficient')
  t.equal(await count(), 1)
  const results = await race(20, n => move(credit('bob', 7, 'credit:2'), [entry('bob', 7)], n))
  t.equal(results.filter(result => result === 'done').length, 1)
  t.equal(await count(), 2)
  t.same(await accountsThatDiffer(dbs[0]!, heldMoney), [])
  t.match(await createLedger(dbs[0]!).check(), { sumCents: 0, wrongAccounts: [] })
})

onBoth('own money goes to the same user only, held money comes from held accounts', async (t, { move }) => {
  await move(credit('ann', 500), [entry('ann', 500)])
  const spent = (cents: number): Entry[] => [entry('ann', cents, { direction: 'debit' })]
  t.equal(await move(debit(user('ann'), contract('ann', 'c'), 100, 'own_money'), spent(100)), 'done')
  t.equal(await move(debit(contract('ann', 'c'), contract('ann', 'd'), 50, 'own_money')), 'done')
  t.equal(await move(debit(user('ann'), held('ann', 'cards'), 40, 'own_money'), spent(40)), 'done')
  for (const [from, to] of [
    [user('ann'), user('bob')],
    [user('ann'), revenue],
    [contract('ann', 'c'), contract('bob', 'c')],
    [held('ann', 'cards'), systemAccounts.cards('sandbox')],
  ] as const)
    await t.rejects(move(debit(from, to, 1, 'own_money'), [...spent(1), entry('bob', 1)]), {
      name: 'TypeError',
      message: /own_money does not cover a transfer to somebody else/,
    })
  t.equal(await move(debit(held('ann', 'cards'), systemAccounts.cards('sandbox'), 40, 'held_before')), 'done')
  for (const from of [user('ann'), contract('ann', 'c')])
    await t.rejects(move(debit(from, revenue, 1, 'held_before'), spent(1)), {
      name: 'TypeError',
      message: /held_before covers debits of held accounts only/,
    })
})

onBoth('new accounts that pay each other at the same time do not wait in a circle', async (t, { move }) => {
  const pairs = await race(40, n => {
    const [from, to] = n % 2 === 0 ? ['new-a', 'new-b'] : ['new-b', 'new-a']
    const transfer = debit(user(from), user(to), 1, 'operator_correction')
    return move(transfer, [entry('new-a', 1), entry('new-b', 1)], n)
  })
  t.same([...new Set(pairs)], ['insufficient'])
})

onBoth('says which account differs from its rows, and by how much', async (t, { move, dbs }) => {
  await move(credit('ann', 500), [entry('ann', 400)])
  await move(credit('bob', 500), [entry('bob', 500)])
  const differences = await accountsThatDiffer(dbs[0]!, heldMoney)
  t.same(differences, [{ accountId: 'ann', account: 'user:ann', ledgerCents: 500, bookedCents: 400 }])
  t.equal(
    describeDifference(differences[0]!, heldMoney),
    'user:ann has 500 US cents in the ledger, but the transactions of ann add up to 400',
  )
  await move(debit(user('bob'), held('bob', 'cards'), 5, 'own_money'), [
    entry('bob', 5, { direction: 'debit', status: 'pending' }),
  ])
  t.match(
    (await accountsThatDiffer(dbs[0]!, heldMoney)).map(each => describeDifference(each, heldMoney)),
    [
      'held:bob:cards has 5 US cents in the ledger, but the open card authorizations of bob add up to 0',
      /^user:ann/,
    ],
  )
})

onBoth('compares what is held with open authorizations and open withdrawals', async (t, { move, dbs }) => {
  const [db] = dbs as [SqlClient]
  await move(credit('ann', 500), [entry('ann', 500)])
  const put = (purpose: 'cards' | 'withdrawals', cents: number): Promise<string> =>
    move(debit(user('ann'), held('ann', purpose), cents, 'own_money'), [
      entry('ann', cents, { direction: 'debit', status: 'pending' }),
    ])
  await put('cards', 5)
  await put('withdrawals', 9)
  await rows(
    db,
    `insert into gw_users (id, account_id, principal, wallet_address, kyc_status, created_at)
      values ('u', 'ann', 'w', 'w', 'not_submitted', 0)`,
  )
  await rows(
    db,
    `insert into gw_cards (id, account_id, position, last4, status, expiration_month, expiration_year, created_at)
      values ('card', 'ann', 1, '0000', 'active', 1, 2030, 0)`,
  )
  for (const [id, status, cents] of [
    ['a', 'authorized', 5],
    ['b', 'cleared', 40],
    ['c', 'declined', 80],
  ] as const)
    await rows(
      db,
      `insert into gw_authorizations (id, account_id, card_id, issuer, status, amount_cents, held_cents, currency, merchant,
          created_at)
        values ($1, 'ann', 'card', 'i', $2, $3, $4, 'USD', '{}', 0)`,
      [id, status, cents, status === 'authorized' ? cents : 0],
    )
  t.same(
    (await accountsThatDiffer(db, heldMoney)).map(each => describeDifference(each, heldMoney)),
    ['held:ann:withdrawals has 9 US cents in the ledger, but the open withdrawals of ann add up to 0'],
  )
  for (const [id, status, cents] of [
    ['a', 'pending', 4],
    ['b', 'ready', 5],
    ['c', 'completed', 40],
    ['d', 'failed', 80],
  ] as const)
    await rows(
      db,
      `insert into gw_withdrawals (id, account_id, provider, status, amount_cents, fee_cents, destination, hold, created_at, updated_at)
        values ($1, 'ann', 'p', $2, $3, 0, '{}', '{}', 0, 0)`,
      [id, status, cents],
    )
  t.same(await accountsThatDiffer(db, heldMoney), [])
})
