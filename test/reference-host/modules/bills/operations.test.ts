// The operations of bills, called without a host around them.
import { ledgerAccounts } from '@gatewright/host/internal'
import { systemAccounts } from '#packages/reference-host/dist/product/system-accounts.js'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openMoney, withoutVarying, type OperationResult } from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'

const { clock, services, addAccount, balance, history, run } = await openMoney(t)
const all = internals.billOperations(services)
const [list, create, pay] = ['bills.list', 'bills.create', 'bills.pay'].map(
  id => all.find(each => each.id === id)!,
) as [(typeof all)[0], (typeof all)[0], (typeof all)[0]]
const BILL = { payee: 'City Power', amountCents: 400, dueAt: '2026-01-31' }
const billOf = ({ data }: OperationResult) => data!['bill'] as Record<string, unknown> & { id: string }
const note = async (accountId: string, more: object = {}) =>
  billOf(await run(create, accountId, { body: { ...BILL, ...more } }))
const payBill = (accountId: string, billId: string, policy?: object): Promise<OperationResult> =>
  run(pay, accountId, { params: { billId }, ...(policy ? { policy } : {}) })
const listed = async (accountId: string, query = '') =>
  (await run(list, accountId, { query })).data!['bills'] as { id: string }[]

t.test('responds as its examples say', async t => {
  const accountId = await addAccount(10_000)
  const made = await run(create, accountId, { body: create.example.body })
  t.same(withoutVarying(made.data), withoutVarying(create.example.response))
  t.same(withoutVarying((await run(list, accountId)).data), withoutVarying(list.example.response))
  const paid = await payBill(accountId, billOf(made).id)
  t.same(withoutVarying(paid.data), withoutVarying(pay.example.response))
})

t.test('notes a bill once', async t => {
  const accountId = await addAccount()
  const effectId = uniqueName()
  const request = { effectId, body: { ...BILL, reference: 'INV-1' } }
  const made = await run(create, accountId, request)
  t.match(billOf(made), { id: `bill_${effectId}`, reference: 'INV-1', status: 'open', paidAt: null })
  t.same(await run(create, accountId, request), made)
  t.same(await history(accountId, 'bill', billOf(made).id), [[null, 'open', 'noted', 400, null]])
  t.match(await note(accountId), { reference: null })
})

t.test('pays a bill once, from the balance, under the caps', async t => {
  const accountId = await addAccount(1000)
  const { id } = await note(accountId)
  const other = await note(accountId)
  const housed = await balance(systemAccounts.bills)
  t.match(await payBill(accountId, id, { dailySpendCapCents: 399 }), { code: 'policy_blocked' })
  const unknown = await payBill(accountId, 'bill_none')
  t.match(unknown, { code: 'not_found' })
  t.same(await payBill(await addAccount(1000), id), unknown, 'of another account')
  clock.advance(1)
  const paid = billOf(await payBill(accountId, id))
  t.match(paid, { status: 'paid', paidAt: new Date(clock.now()).toISOString() })
  t.same(await listed(accountId), [other, paid])
  t.equal((await balance(systemAccounts.bills)) - housed, 400)
  t.equal(await balance(ledgerAccounts.user(accountId)), 600)
  t.same((await history(accountId, 'bill', id))[1], ['open', 'paid', 'paid', 400, null])
  t.match(await payBill(accountId, id), { code: 'invalid_request', field: 'status' })
  const dear = await note(accountId, { amountCents: 601 })
  t.match(await payBill(accountId, dear.id), { field: 'amountCents', details: { availableCents: 600 } })
})

t.test('is overdue after its day or instant, until it is paid', async t => {
  const accountId = await addAccount(1000)
  for (const [dueAt, end] of [
    ['2026-01-31', '2026-01-31T23:59:59.999Z'],
    ['2026-02-01T10:00:00Z', '2026-02-01T10:00:00.000Z'],
    ['2026-02-02T10:00:00.5Z', '2026-02-02T10:00:00.500Z'],
  ] as const) {
    const bill = await note(accountId, { dueAt, amountCents: 1 })
    t.match(bill, { dueAt: end, overdue: false })
    clock.set(Date.parse(end))
    t.match(await listed(accountId), [bill], 'not at exactly that instant')
    clock.advance(1)
    t.match(await listed(accountId), [{ ...bill, overdue: true }])
    t.match(billOf(await payBill(accountId, bill.id)), { overdue: false })
  }
})

t.test('denies a date that does not exist', async t => {
  const accountId = await addAccount()
  for (const dueAt of [
    '2026-02-30',
    '2026-13-01',
    '2026-02-01T25:00:00Z',
    '2026-02-30T10:00:00Z',
    '2026-02-01T10:00:00',
    '2026-1-1',
    'tomorrow',
  ])
    t.match(await run(create, accountId, { body: { ...BILL, dueAt } }), { code: 'invalid_request' }, dueAt)
})

t.test('takes texts of 1 to 80 characters and amounts of 1 to 100,000,000 cents', async t => {
  const problem = internals.compileSchema(create.body!)
  for (const [name, values] of [
    ['amountCents', [0, 1, 100_000_000, 100_000_001]],
    ['payee', ['', 'x', 'x'.repeat(80), 'x'.repeat(81)]],
    ['reference', ['', 'x', 'x'.repeat(80), 'x'.repeat(81)]],
  ] as const)
    t.same(
      values.map(value => problem({ ...BILL, [name]: value }) === undefined),
      [false, true, true, false],
      name,
    )
})

t.test('an account has at most 100 open bills, and a repeated note is the same bill', async t => {
  const accountId = await addAccount(1000)
  const first = { effectId: uniqueName(), body: BILL }
  const made = await run(create, accountId, first)
  const { id } = billOf(made)
  for (let n = 1; n < 100; n += 1) await note(accountId)
  t.same(await run(create, accountId, first), made)
  const full = { code: 'policy_blocked', details: { rule: 'max_bills' } }
  t.match(await run(create, accountId, { body: BILL }), full)
  t.match(await note(await addAccount()), { status: 'open' }, 'another account')
  await payBill(accountId, id)
  t.match(await note(accountId), { status: 'open' })
})
