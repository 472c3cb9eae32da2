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
const BILL = { payee: 'City Power', amountCents: 400, dueAt: '2026-01-31' }
const billOf = ({ body }: HttpResponse) => body.data['bill'] as { id: string; paidAt: string | null }
const pay = (user: MoneyUser, id: string): Promise<HttpResponse> => user.write(`/bills/${id}/pay`, {})
const housed = (): Promise<number> => createLedger(db).balance(db, systemAccounts.bills)

t.test('notes a bill, lists it, and pays it from the balance', async t => {
  const user = await newMoneyUser(host.send, clock.now())
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
  t.same(host.failures, [])
})
