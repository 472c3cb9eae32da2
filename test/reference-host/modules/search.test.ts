import t from 'tap'
import { migrateLedger } from '#packages/host/dist/ledger/ledger.js'
import { transactions, type TransactionEntry } from '#packages/host/dist/ledger/transactions.js'
import { MAX_SCANNED, type Place } from '#packages/host/dist/records/newest-page.js'
import { searchOf, textsOf, type Searched } from '#packages/reference-host/dist/modules/search.js'
import { filterOf } from '#packages/reference-host/dist/modules/transactions/filters.js'
import { describe } from '#packages/reference-host/dist/modules/subscriptions/payins/payin.js'
import type { SqlClient } from '@gatewright/kernel/sql'
import { onBothDatabases } from '../../harness/databases/host-tables.ts'
import { randomCases } from '../../harness/random-cases.ts'
import { randomOf } from '../harness/random.ts'

const payment: Searched = {
  ids: ['txn_1', 'pay_1', null],
  amountCents: 123_450,
  texts: ['Payment sent', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', 'Lunch at Café Ñandú', null],
}

t.test('finds an item by its id, its amount, a part of its address, or its words', async t => {
  const finds = (text: string, item: Partial<Searched> = {}) => searchOf(text)({ ...payment, ...item })
  for (const text of [
    'txn_1',
    'PAY_1',
    ' pay_1 ',
    '1234.50',
    '1234.5',
    '1,234.50',
    '$1,234.50',
    '0x7099',
    '0X70997970C5',
    'dc79c8',
    'lunch',
    'LUNCH',
    'café lunch',
    'ñandú',
    'sent  lunch',
  ])
    t.equal(finds(text), true, text)
  for (const text of [
    'txn_2',
    'txn',
    '1234',
    '12.34.50',
    '234.50',
    '0x8',
    'dinner',
    'lunch dinner',
    '%',
    '_',
    "'",
  ])
    t.equal(finds(text), false, text)
  const order = { amountCents: 1000, texts: ['Order 1003', 'INV-7, due 12.50'] }
  for (const text of ['1003', '10', '7', '12.50', 'inv-7', 'order 1003'])
    t.equal(finds(text, order), true, text)
  for (const text of ['100', '003', '2.50', '12', '50']) t.equal(finds(text, order), false, text)
  t.same(textsOf({ a: 'x', b: [1, { c: 'y', d: null, e: true }] }), ['x', '1', 'y'])
})

t.test('a pay-in is described by what its program said of it', async t => {
  t.equal(describe({ description: 'Order 1003', orderId: '1003' }), 'Order 1003')
  t.equal(describe({ description: 'Order 1003', orderId: '7', reference: '1003' }), 'Order 1003 · 7')
  t.equal(describe({ orderId: 1003 }), '1003')
  t.equal(describe({ description: 'Shoes', orderId: 'A-1', reference: 'R' }), 'Shoes · A-1 · R')
  t.equal(describe({ description: ' a\n b ' }), 'a b')
  for (const nothing of [{}, { metadata: { order: 1 } }, { description: {} }, { description: '' }])
    t.equal(describe(nothing), null)
  t.equal(describe({ description: 'x'.repeat(500) })?.length, 120)
})

const WORDS = ['Lunch', 'coffee', 'Order', '1003', '12.50', '0x7099', 'Ünïcode', '50%', 'a_b', "it's", '12']

/** What a search should find, written without the code under test. */
function plain(text: string, entry: TransactionEntry): boolean {
  const content = [entry.description, entry.counterparty ?? '', entry.memo ?? '', entry.merchant?.name ?? '']
    .join(' ')
    .toLowerCase()
  const isNumber = /^\d+(\.\d\d)?$/.test(text)
  if (!isNumber)
    return text
      .toLowerCase()
      .split(' ')
      .every(word => content.includes(word))
  return entry.amountCents === Math.round(Number(text) * 100) || content.split(' ').includes(text)
}

async function readAll(db: SqlClient, accountId: string, q: string, limit: number) {
  const found: string[] = []
  let after: Place | undefined
  let pages = 0
  do {
    const page = await transactions.page(db, accountId, { limit, after }, filterOf({ q }))
    t.ok(page.rows.length <= limit)
    found.push(...page.rows.map(({ source }) => source.id))
    after = page.next
    pages += 1
  } while (after)
  return { found, pages }
}

onBothDatabases(
  'the pages of a search have the same transactions as a filter of the whole list, in its order',
  async (t, { dbs: [db] }) => {
    const { next } = randomOf(620)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T
    const entries = Array.from(
      { length: 90 },
      (_, n): TransactionEntry => ({
        accountId: n % 9 === 8 ? 'other' : 'ann',
        source: { kind: 'payment', id: `pay_${n}` },
        type: 'payment',
        status: 'completed',
        amountCents: pick([1200, 1250, 100_300, 999]),
        direction: 'debit',
        description: `${pick(WORDS)} ${pick(WORDS)}`,
        memo: pick([null, pick(WORDS)]),
        counterparty: pick([null, '0x7099ab']),
      }),
    )
    // Several of one millisecond, so that pages end within one.
    await db.transaction(async tx => {
      for (const [n, entry] of entries.entries()) await transactions.write(tx, entry, Math.floor(n / 4))
    })
    for (let n = 0; n < randomCases(60); n++) {
      const q = pick([pick(WORDS), `${pick(WORDS)} ${pick(WORDS)}`, 'nothing', '9.99', '10.03'])
      const { found } = await readAll(db, 'ann', q, pick([1, 2, 7, 100]))
      const expected = entries.filter(entry => entry.accountId === 'ann' && plain(q, entry)).reverse()
      t.same(
        found,
        expected.map(({ source }) => source.id),
        q,
      )
    }
  },
  migrateLedger,
)

onBothDatabases(
  'a page of a search reads a bounded number of rows, and an id is found at once',
  async (t, { dbs: [db] }) => {
    const count = 2 * MAX_SCANNED + 5
    await db.query(
      `insert into gw_transactions (id, account_id, source_kind, source_id, part, type, status, amount_cents, direction,
        description, created_at, updated_at)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      select 'txn_' || n, 'ann', 'bill', 'bill_' || n, '', 'payment', 'completed', n, 'debit',
        case when n = 1 then 'The oldest' else 'A bill' end, n, n from numbers`,
      [],
    )
    const first = await transactions.page(db, 'ann', { limit: 10 }, filterOf({ q: 'oldest' }))
    t.same(first.rows, [])
    t.same(first.next?.at, count - MAX_SCANNED + 1)
    t.same(await readAll(db, 'ann', 'oldest', 10), { found: ['bill_1'], pages: 3 })
    t.same(await readAll(db, 'ann', 'bill_1', 10), { found: ['bill_1'], pages: 1 })
    t.same(await readAll(db, 'ann', 'txn_1', 10), { found: ['bill_1'], pages: 1 })
  },
  migrateLedger,
)
