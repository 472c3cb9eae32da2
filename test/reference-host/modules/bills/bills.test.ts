import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import { createLedger } from '#packages/host/dist/ledger/ledger.js'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import t from 'tap'
import type { HttpResponse } from '../../../harness/host.ts'
import { newMoneyUser, type MoneyUser } from '../../harness/money.ts'
import { startOpenHost } from '../../harness/open-host.ts'

const NOON = Date.UTC(2026, 0, 31, 12)
const clock = manualClock(NOON)
const { host, db, wrongSums, close } = await startOpenHost(clock)
t.teardown(close)
const newUser = (extra?: Record<string, unknown>) => newMoneyUser(host.send, clock.now(), extra)
const BILL = { payee: 'City Power', amountCents: 400, dueAt: '2026-01-31' }
const billOf = ({ body }: HttpResponse) => body.data['bill'] as { id: string; paidAt: string | null }
const note = async (user: MoneyUser, bill: object = {}): Promise<string> =>
  billOf(await user.write('/bills', { ...BILL, ...bill })).id
const pay = (user: MoneyUser, id: string, key?: string): Promise<HttpResponse> =>
  user.write(`/bills/${id}/pay`, {}, key)
const housed = (): Promise<number> => createLedger(db).balance(db, systemAccounts.bills)

t.test('notes a bill, lists it, and pays it from the balance', async t => {
  const user = await newUser()
  await user.fund(1000)
  const before = await housed()
  const made = await user.write('/bills', { ...BILL, reference: 'INV-1' })
  const bill = billOf(made)
  t.same(bill, {
    id: bill.id,
    payee: 'City Power',
    amountCents: 400,
    currency: 'USD',
    reference: 'INV-1',
    status: 'open',
    overdue: false,
    dueAt: '2026-01-31T23:59:59.999Z',
    paidAt: null,
    createdAt: new Date(NOON).toISOString(),
  })
  t.match(bill.id, /^bill_/)
  t.same((await user.read('/bills')).body.data, { bills: [bill], nextCursor: null })
  const paid = billOf(await pay(user, bill.id))
  t.same(paid, { ...bill, status: 'paid', paidAt: new Date(NOON).toISOString() })
  t.same((await user.read('/bills')).body.data['bills'], [paid])
  t.same([await user.balance(), (await housed()) - before], [600, 400])
  t.match((await user.read('/transactions?type=payment')).body.data['transactions'], [
    { direction: 'debit', amountCents: 400, source: { kind: 'bill', id: bill.id } },
  ])
  t.match((await user.read('/notifications')).body.data['notifications'], [
    { kind: 'bill.paid', text: /4\.00 USD/ },
    { kind: 'bill.open' },
  ])
  t.match(await pay(user, bill.id), { status: 400, body: { error: 'invalid_request', field: 'status' } })
  t.equal(await user.balance(), 600)
  t.same(await wrongSums(), [])
})

t.test('denies an invalid bill', async t => {
  const user = await newUser()
  for (const [field, wrong] of [
    ['payee', { payee: '' }],
    ['amountCents', { amountCents: 1.5 }],
    ['dueAt', { dueAt: '2026-02-30' }],
  ] as const)
    t.match(await user.write('/bills', { ...BILL, ...wrong }), { status: 400, body: { field } }, field)
  t.same((await user.read('/bills')).body.data['bills'], [])
})

t.test('counts under the caps of whoever pays; too little money pays nothing', async t => {
  const user = await newUser({ policy: { dailySpendCapCents: 700 } })
  const [one, two] = [await note(user), await note(user)]
  const key = randomUUID()
  t.match(await pay(user, one, key), {
    status: 400,
    body: { field: 'amountCents', error: 'insufficient_balance', availableCents: 0 },
  })
  await user.fund(1000)
  t.match(await pay(user, one, key), { status: 200 }, 'the same key works after funding')
  t.match(await pay(user, one, key), { status: 200 }, 'and is replayed')
  t.match(await pay(user, two), { status: 403, body: { rule: 'dailySpendCapCents' } })
  t.equal(await user.balance(), 600)
})

t.test('of 20 simultaneous payments of one bill, one moves money', async t => {
  const user = await newUser()
  await user.fund(5000)
  const id = await note(user)
  const responses = await Promise.all(Array.from({ length: 20 }, () => pay(user, id)))
  t.equal(responses.filter(({ status }) => status === 200).length, 1)
  t.equal(responses.filter(({ status }) => status === 400).length, 19)
  t.equal(await user.balance(), 4600)
  t.same(host.failures, [])
})
