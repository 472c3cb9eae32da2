import { newId } from '@gatewright/host'
import type { SqlClient } from '@gatewright/kernel/sql'
import { ledgerAccounts } from '@gatewright/host/internal'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateLedger } from '#packages/host/dist/ledger/ledger.js'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import t, { type Test } from 'tap'
import { withAwaitedQueries } from '../../harness/databases/awaited-queries.ts'
import * as internals from '../../harness/internals.ts'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

const { accountsThatDiffer, heldMoney, readUserMoney, transactions, userMoney } = internals
type Store = typeof transactions
type Entry = Parameters<Store['write']>[1]
type Place = NonNullable<Awaited<ReturnType<Store['page']>>['next']>
const NOW = 1_767_225_600_000

function onBoth(
  title: string,
  run: (t: Test, db: SqlClient, store: Store, ledger: ReturnType<typeof createLedger>) => Promise<void>,
): void {
  for (const dialect of ['postgres', 'sqlite'] as const) {
    t.test(`${dialect}: ${title}`, async t => {
      const open = dialect === 'postgres' ? openPostgres : openSqlite
      const { connections, close } = await open(1, async db => {
        await migrateLedger(db)
        await migrateHost(db)
      })
      t.teardown(close)
      const db = withAwaitedQueries(connections[0] as SqlClient)
      await run(t, db, transactions, createLedger(db))
    })
  }
}

const entry = (description: string, more: Partial<Entry> = {}): Entry => ({
  accountId: 'ann',
  source: { kind: 'test', id: newId('test') },
  type: 'payment',
  status: 'completed',
  amountCents: 5,
  direction: 'credit',
  description,
  ...more,
})

onBoth(
  'pages the transactions of an account, newest first, also by types and by card',
  async (t, db, store) => {
    const card = { type: 'spend', cardId: 'card_1' } as const
    for (const each of [
      entry('payment 1'),
      entry('fee 1', { type: 'fee' }),
      entry('card 1', card),
      entry('collateral 1', { type: 'collateral' }),
      entry('other card', { type: 'spend', cardId: 'card_2' }),
      entry('of bob', { accountId: 'bob' }),
      entry('fee 2', { type: 'fee' }),
      entry('card 2', card),
      entry('payment 2'),
    ])
      await store.write(db, each, NOW)
    const list = async (filter: Parameters<Store['page']>[3], limit = 50): Promise<string[]> => {
      const found: string[] = []
      for (let after: Place | undefined; ; ) {
        const page = await store.page(db, 'ann', { after, limit }, filter)
        found.push(...page.rows.map(({ description }) => description))
        if (!page.next) return found
        after = page.next
      }
    }
    for (const limit of [1, 2, 50]) {
      const all = [
        'payment 2',
        'card 2',
        'fee 2',
        'other card',
        'collateral 1',
        'card 1',
        'fee 1',
        'payment 1',
      ]
      t.same(await list({}, limit), all)
      t.same(await list({ types: ['fee'] }, limit), ['fee 2', 'fee 1'])
      t.same(await list({ types: ['payment', 'fee'] }, limit), ['payment 2', 'fee 2', 'fee 1', 'payment 1'])
      t.same(await list({ cardId: 'card_1' }, limit), ['card 2', 'card 1'])
      t.same(await list({ cardId: 'card_1', types: ['spend', 'fee'] }, limit), ['card 2', 'card 1'])
      t.same(await list({ cardId: 'card_1', types: ['fee'] }, limit), [], 'only what was spent has a card')
    }
  },
)

onBoth('filters by status, key, object and time of creation, alone and together', async (t, db, store) => {
  const statuses = ['completed', 'pending', 'declined'] as const
  for (let n = 0; n < 36; n += 1)
    await store.write(
      db,
      entry(String(n), {
        source: { kind: n % 2 === 0 ? 'bill' : 'payin', id: `object_${n % 4}`, part: String(n) },
        status: statuses[n % 3] as Entry['status'],
        type: n % 4 === 0 ? 'payment' : 'collateral',
        keyId: n % 5 === 0 ? null : `key_${n % 2}`,
      }),
      // Three rows of each millisecond.
      NOW + Math.floor(n / 3),
    )
  const list = async (filter: Parameters<Store['page']>[3], range: object, limit: number) => {
    const found: number[] = []
    for (let after: Place | undefined; ; ) {
      const page = await store.page(db, 'ann', { ...range, after, limit }, filter)
      if (page.rows.length > limit) throw new Error(`${page.rows.length} rows, above the limit of ${limit}`)
      found.push(...page.rows.map(({ description }) => Number(description)))
      if (!page.next) return found
      after = page.next
    }
  }
  const wanted = (is: (n: number) => boolean): number[] =>
    Array.from({ length: 36 }, (_, n) => 35 - n).filter(is)
  const cases: [Parameters<Store['page']>[3], (n: number) => boolean][] = [
    [{}, () => true],
    [{ statuses: ['pending'] }, n => n % 3 === 1],
    [{ statuses: ['pending', 'declined'] }, n => n % 3 > 0],
    [{ statuses: ['declined'], types: ['payment'] }, n => n % 3 === 2 && n % 4 === 0],
    [{ keyId: 'key_1' }, n => n % 2 === 1 && n % 5 > 0],
    [{ keyId: 'key_1', statuses: ['completed'] }, n => n % 2 === 1 && n % 5 > 0 && n % 3 === 0],
    [{ keyId: 'key_0', types: ['payment'] }, n => n % 4 === 0 && n % 5 > 0],
    [{ source: { kind: 'payin', id: 'object_1' } }, n => n % 4 === 1],
    [
      { source: { kind: 'payin', id: 'object_1' }, keyId: 'key_1', statuses: ['pending'] },
      n => n % 12 === 1 && n % 5 > 0,
    ],
    [{ source: { kind: 'bill', id: 'object_1' } }, () => false],
    [{ keyId: 'key_9' }, () => false],
  ]
  for (const [filter, is] of cases)
    for (const limit of [1, 2, 50]) {
      t.same(await list(filter, {}, limit), wanted(is), JSON.stringify({ filter, limit }))
      const range = { from: NOW + 2, to: NOW + 9 }
      const within = (n: number): boolean => n >= 6 && n < 27
      t.same(
        await list(filter, range, limit),
        wanted(n => is(n) && within(n)),
        JSON.stringify(filter),
      )
    }
  t.same(await list({}, { from: NOW + 12 }, 5), [])
  t.same(await list({}, { to: NOW }, 5), [])
  const { rows } = await store.page(db, 'bob', { limit: 9 }, { keyId: 'key_1' })
  t.same(rows, [], 'only those of the account')
})

onBoth(
  'a page that tests rows reads 500 of them, and says where the next page begins',
  async (t, db, store) => {
    const all = 1100
    await db.transaction(async tx => {
      for (let n = 0; n < all; n += 1)
        await store.write(
          tx,
          entry(String(n), { keyId: 'key', status: n === 3 ? 'failed' : 'completed' }),
          NOW + n,
        )
    })
    const pages: string[][] = []
    let after: Place | undefined
    do {
      const page = await store.page(db, 'ann', { after, limit: 2 }, { keyId: 'key', statuses: ['failed'] })
      pages.push(page.rows.map(({ description }) => description))
      after = page.next
    } while (after)
    t.same(pages, [[], [], ['3']])
  },
)

onBoth('keeps the merchant, and writes a row again in its place', async (t, db, store) => {
  const merchant = { name: 'Shop', mcc: '5411', city: null, country: 'US' }
  const spent = entry('card', { type: 'spend', cardId: 'card_1', status: 'pending', merchant })
  await store.write(db, spent, NOW)
  await store.write(db, entry('later'), NOW)
  await store.write(db, { ...spent, status: 'completed', amountCents: 4, description: 'cleared' }, NOW + 1)
  const { rows: page } = await store.page(db, 'ann', { limit: 9 })
  t.match(page, [
    { description: 'later', merchant: null, cardId: null },
    {
      description: 'cleared',
      merchant,
      status: 'completed',
      amountCents: 4,
      createdAt: NOW,
      updatedAt: NOW + 1,
    },
  ])
})

onBoth('keeps both sides of a payment under one id', async (t, db, store) => {
  const source = { kind: 'payment', id: 'pay_1' }
  const sides = [
    entry('received', { source: { ...source, part: 'received' }, counterparty: '0x1', memo: 'Lunch' }),
    entry('sent', { source: { ...source, part: 'sent' }, counterparty: '0x2', memo: null }),
    entry('whole', { source }),
  ]
  for (const side of sides) await store.write(db, side, NOW)
  const { rows: page } = await store.page(db, 'ann', { limit: 9 })
  t.match(page, [
    { ...sides[2], source: { ...source, part: '' }, counterparty: null, memo: null },
    sides[1],
    sides[0],
  ])
})

onBoth(
  'money of a user is 0 without accounts, and sums what is held and put aside',
  async (t, db, _, ledger) => {
    const nothing = { availableCents: 0, heldForCardsCents: 0, heldForWithdrawalsCents: 0, contractsCents: 0 }
    t.same(await readUserMoney(db, 'ann'), nothing)
    t.equal(await userMoney(db, 'ann'), 0)
    const { contract, held, user } = ledgerAccounts
    const { operator } = systemAccounts
    const book = (credit: string, amountCents: number): Promise<string> =>
      db.transaction(tx =>
        ledger.transfer(tx, { id: newId('test'), debit: operator, credit, amountCents, cause: 'x' }, NOW),
      )
    await book(contract('ann', 'a'), 1)
    await book(contract('ann', 'b'), 2)
    t.same(await readUserMoney(db, 'ann'), { ...nothing, contractsCents: 3 })
    await book(user('ann'), 10)
    await book(held('ann', 'cards'), 20)
    await book(held('ann', 'withdrawals'), 40)
    for (const other of ['an', 'anna', 'ann;', 'bob']) {
      await book(user(other), 1000)
      await book(contract(other, 'a'), 1000)
    }
    t.same(await readUserMoney(db, 'ann'), {
      availableCents: 10,
      heldForCardsCents: 20,
      heldForWithdrawalsCents: 40,
      contractsCents: 3,
    })
    t.equal(await userMoney(db, 'ann'), 73)
  },
)

onBoth('of the rows only what changes the balance is compared with the ledger', async (t, db, store) => {
  const booked = async (direction: Entry['direction'], status: Entry['status']): Promise<number> => {
    const accountId = newId('acc')
    await store.write(db, entry('x', { accountId, direction, status }), NOW)
    const differences = await accountsThatDiffer(db, heldMoney)
    return differences.find(({ account }) => account === `user:${accountId}`)?.bookedCents ?? 0
  }
  for (const status of ['pending', 'completed', 'declined', 'reversed', 'failed'] as const) {
    t.equal(await booked('credit', status), status === 'completed' ? 5 : 0, `credit, ${status}`)
    const counts = status === 'completed' || status === 'pending'
    t.equal(await booked('debit', status), counts ? -5 : 0, `debit, ${status}`)
  }
})

onBoth('finds the keys of business objects by their kinds and ids', async (t, db, store) => {
  const of = (kind: string, id: string, keyId: string | null, accountId = 'ann') =>
    store.write(db, entry('x', { accountId, source: { kind, id }, keyId }), NOW)
  await of('payment', 'one', 'key_1')
  await of('payment', 'two', 'key_2')
  await of('payin', 'one', 'key_3')
  await of('payin', 'two', null)
  await of('payment', 'three', 'key_4', 'bob')
  const asked = ['one', 'two', 'three'].flatMap(id => [
    { kind: 'payment', id },
    { kind: 'payin', id },
  ])
  const plans: unknown[] = []
  const explained: typeof db = {
    ...db,
    async query(text, values) {
      if (db.dialect === 'sqlite') plans.push(...(await db.query(`explain query plan ${text}`, values)).rows)
      return db.query(text, values)
    },
  }
  t.same(
    await store.keysOf(explained, 'ann', asked),
    new Map([
      ['payment one', 'key_1'],
      ['payment two', 'key_2'],
      ['payin one', 'key_3'],
    ]),
  )
  t.same(await store.keysOf(db, 'ann', []), new Map())
  if (db.dialect !== 'sqlite') return
  const searches = plans
    .map(plan => String((plan as { detail: unknown }).detail))
    .filter(each => /gw_/.test(each))
  t.equal(searches.length, 2)
  for (const search of searches)
    t.match(
      search,
      /account_id=\? AND source_kind=\? AND source_id=\?/,
      'reads the named ones, not all of the account',
    )
})
