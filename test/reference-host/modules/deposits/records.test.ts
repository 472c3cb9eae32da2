import { Fault } from '@gatewright/kernel'
import { rows } from '@gatewright/kernel/sql'
import { compileSchema, ledgerAccounts } from '@gatewright/host/internal'
import type { DepositProvider, DepositReport } from '#packages/reference-host/dist/providers/deposits/port.js'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openMoney } from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'

const { db, clock, services, errors, addAccount, balance, history } = await openMoney(t)
const { deposits } = services
const { anyDeposit, depositTable } = internals
const DAY_MS = 86_400_000
type Stored = NonNullable<Awaited<ReturnType<typeof depositTable.find>>>

const TERMS = { currency: 'usdc', network: 'base', amount: '25', minAmount: '1', maxAmount: '9' }
const ADDRESS = `0x${'Ab'.repeat(20)}`
const OPENED = { reference: 'r', depositAddress: ADDRESS, extraId: '7', chainId: 8453 }

async function made(accountId?: string, more: object = {}): Promise<Stored> {
  const owner = accountId ?? (await addAccount())
  const deposit = { id: `dep_${uniqueName()}`, accountId: owner, provider: 'p', ...TERMS, ...OPENED, ...more }
  return db.transaction(tx => deposits.create(tx, deposit, clock.now()))
}
const find = async (id: string): Promise<Stored> => (await anyDeposit.find(db, id)) as Stored
const report = (
  id: string,
  status: DepositReport['status'],
  payments: DepositReport['payments'] = [],
  provider = 'p',
): Promise<string> =>
  db.transaction(tx => deposits.report(tx, provider, { id, status, payments }, clock.now()))
const paid = (id: string, creditedCents: number) => ({ id, creditedCents })
const events = ({ accountId, id }: Stored) => history(accountId, 'deposit', id)
const funds = ({ accountId }: Stored): Promise<number> => balance(ledgerAccounts.user(accountId))
const attentionOf = async ({ id }: Stored): Promise<unknown> =>
  (await rows(db, 'select attention from gw_deposits where id = $1', [id]))[0]?.['attention']
const CREATED = [null, 'awaitingDeposit', 'created', null, null]
const untouched = await made()

t.test('stores a deposit once, with an address of Ethereum in lower case', async t => {
  const full = await made()
  t.match(full, {
    ...TERMS,
    ...OPENED,
    depositAddress: ADDRESS.toLowerCase(),
    status: 'awaitingDeposit',
    createdAt: clock.now(),
  })
  t.same(await events(full), [CREATED])
  await t.rejects(made(full.accountId, { id: full.id }), /exists already/)
  const none = { amount: null, maxAmount: null, extraId: null, chainId: null, depositAddress: 'bc1qAB' }
  t.match(await made(full.accountId, none), none)
  t.equal(await anyDeposit.find(db, 'dep_none'), undefined)
})

t.test('moves on by reports, and never back', async t => {
  const STATES = ['awaitingDeposit', 'processing', 'completed', 'failed'] as const
  const allowed: string[] = []
  for (const from of STATES)
    for (const to of STATES) if (internals.mayMoveDeposit(from, to)) allowed.push(`${from} ${to}`)
  t.same(allowed, ['awaitingDeposit processing', 'awaitingDeposit failed', 'processing failed'])
  const deposit = await made()
  clock.advance(1)
  t.equal(await report(deposit.id, 'awaitingDeposit'), 'ignored')
  t.same(await find(deposit.id), deposit)
  t.equal(await report(deposit.id, 'completed'), 'applied')
  t.same(await find(deposit.id), { ...deposit, status: 'processing', updatedAt: clock.now() })
  t.equal(await report(deposit.id, 'failed'), 'applied')
  t.equal(await report(deposit.id, 'processing'), 'ignored')
  t.same(await events(deposit), [
    CREATED,
    ['awaitingDeposit', 'processing', 'reported', null, null],
    ['processing', 'failed', 'reported', null, null],
  ])
  t.equal(await report(deposit.id, 'completed', [paid(uniqueName(), 5)]), 'applied', 'a payment completes it')
  t.equal((await find(deposit.id)).status, 'completed')
  t.equal(await report('dep_none', 'processing'), 'unknown')
  t.equal(await report(deposit.id, 'processing', [], 'other'), 'unknown')
  t.same(await find(untouched.id), untouched)
})

t.test('credits each payment of a report once', async t => {
  const deposit = await made()
  const [one, two] = [paid(uniqueName(), 100), paid(uniqueName(), 7)]
  t.equal(await report(deposit.id, 'completed', [one]), 'applied')
  t.equal(await report(deposit.id, 'completed', [one]), 'ignored')
  t.equal(await report(deposit.id, 'failed', [one, two]), 'applied')
  t.equal(await funds(deposit), 107)
  t.same(await events(deposit), [
    CREATED,
    ['awaitingDeposit', 'completed', 'paid', 100, null],
    ['completed', 'completed', 'paid', 7, null],
  ])
  t.equal(await attentionOf(deposit), null)
  t.same(errors, [])
})

t.test('a deposit that is made after a report of it takes the report, which waited for it', async t => {
  const id = `dep_${uniqueName()}`
  const type = internals.depositReportEvent(deposits.report)
  const send = (messageId: string): Promise<string> => {
    const data = { id, status: 'completed', payments: [paid(`p-${id}`, 2500)] }
    const event = { provider: 'p', messageId, type: 'deposit.report', data }
    return db.transaction(tx => internals.applyEvent(tx, event, type, clock.now()))
  }
  t.equal(await send('first'), 'unknown', 'the provider is asked to send it again')
  clock.advance(DAY_MS)
  t.equal(await send('second'), 'kept')
  const kept = await rows(db, 'select amount_cents from gw_kept_events where object_id = $1', [id])
  t.equal(Number(kept[0]?.['amount_cents']), 2500)
  const deposit = await made(undefined, { id })
  t.equal(deposit.status, 'completed')
  t.equal(await funds(deposit), 2500)
  t.equal(await send('third'), 'ignored', 'its payment is credited already')
  t.equal(await funds(deposit), 2500)
  const other = await made(undefined, { provider: 'other' })
  t.equal(other.status, 'awaitingDeposit')
})

t.test('keeps a payment that has the id of another, once, and credits the others', async t => {
  const accountId = await addAccount()
  const [one, two] = [await made(accountId), await made(accountId)]
  const payment = paid(uniqueName(), 100)
  await report(one.id, 'completed', [payment])
  t.equal(await report(two.id, 'processing', [payment]), 'ignored')
  t.equal((await find(two.id)).status, 'processing')
  const message = `payment ${payment.id} of 100 US cents to deposit ${two.id} was not credited: p gave its id to another payment`
  t.match(errors.splice(0), [{ message }])
  t.equal(await attentionOf(two), 'payment_conflict')
  t.equal(await attentionOf(one), null)
  const conflict = ['awaitingDeposit', 'awaitingDeposit', 'payment_conflict', 100, payment.id]
  t.same(await events(two), [CREATED, conflict, ['awaitingDeposit', 'processing', 'reported', null, null]])
  t.equal(await report(two.id, 'processing', [payment]), 'ignored', 'a repeat')
  t.same(errors, [])
  const changed = { ...payment, creditedCents: 150 }
  const fresh = paid(uniqueName(), 100)
  t.equal(await report(two.id, 'completed', [changed, fresh]), 'applied')
  t.match(errors.splice(0), [{ message: /of 150 US cents/ }], 'another amount')
  const other = paid(uniqueName(), 150)
  await report(one.id, 'completed', [other])
  t.equal(await report(two.id, 'completed', [other]), 'ignored')
  t.match(errors.splice(0), [{ message: new RegExp(other.id) }], 'another id of the same amount')
  t.equal(await report(one.id, 'completed', [{ ...payment, creditedCents: 101 }]), 'ignored')
  t.match(errors.splice(0), [{ message: /of 101 US cents/ }], 'of the same deposit')
  t.equal(await funds(one), 350)
  t.same((await events(two)).slice(-2), [
    ['processing', 'completed', 'paid', 100, null],
    ['completed', 'completed', 'payment_conflict', 150, other.id],
  ])
})

t.test('pages the deposits of an account, newest first', async t => {
  const accountId = await addAccount()
  clock.set(10_000)
  const all = [await made(accountId), await made(accountId), await made(accountId)].toReversed()
  clock.set(10_001)
  const [newest, middle, oldest] = all as [Stored, Stored, Stored]
  const page = async (more: object): Promise<string[]> => {
    const of = { after: 0, limit: 9, openSince: undefined, ...more }
    return (await deposits.page(db, accountId, of)).map(({ id }) => id)
  }
  t.same(await page({}), [newest.id, middle.id, oldest.id])
  t.same(await page({ limit: 2 }), [newest.id, middle.id])
  t.same(await page({ after: middle.position }), [oldest.id])
  t.same(await page({ openSince: 10_000 }), [], 'made at exactly that time')
  t.same(await page({ openSince: 9_999 }), [newest.id, middle.id, oldest.id])
  await report(newest.id, 'processing')
  await report(middle.id, 'failed')
  t.same(await page({ openSince: 9_999 }), [newest.id, oldest.id])
  t.same(await page({ openSince: 9_999, after: newest.position }), [oldest.id])
})

t.test('shows the last 20 payments of each deposit, and the sum of all', async t => {
  const accountId = await addAccount()
  const [many, few, none] = [await made(accountId), await made(accountId), await made(accountId)]
  t.same(await deposits.payments(db, []), new Map())
  const payments = Array.from({ length: 21 }, (_, n) => paid(uniqueName(), n + 1))
  await report(many.id, 'completed', payments)
  clock.advance(5)
  const single = paid(uniqueName(), 1000)
  await report(few.id, 'completed', [single])
  const at = clock.now()
  const shown = await deposits.payments(db, [many, few, none])
  t.same([...shown.keys()].toSorted(), [many.id, few.id].toSorted())
  t.same(
    shown.get(many.id),
    { creditedCents: 231, last: payments.slice(1).map(payment => ({ ...payment, at: at - 5 })) },
    'all but the first',
  )
  t.same(shown.get(few.id), { creditedCents: 1000, last: [{ ...single, at }] })
  const data = await internals.depositsData(deposits, db, [none, few])
  t.match(data, [{ creditedCents: 0, payments: [] }, { creditedCents: 1000 }])
})

t.test('asks the provider until a day after the last change', async t => {
  const calls: string[] = []
  const run = async (id: string, found: () => Promise<DepositReport | undefined>) => {
    const counted: string[] = []
    const find = async (id: string): Promise<DepositReport | undefined> => {
      calls.push(id)
      return found()
    }
    const provider = { name: 'p', find } as unknown as DepositProvider
    const count = (outcome: string): void => void counted.push(outcome)
    const job = internals.findJob({ db, clock, deposits }, { provider, count })
    const owner = (await anyDeposit.find(db, id))?.accountId ?? 'acc_1'
    const key = { kind: 'deposit.find', accountId: owner, subjectId: id }
    const outcome = await job(key, new AbortController().signal)
    const end = outcome === 'again' ? outcome : await db.transaction(outcome)
    return [counted, end, calls.splice(0).length]
  }
  const unknown = async (): Promise<undefined> => undefined
  t.same(await run('dep_none', unknown), [[], undefined, 0])
  const { id, updatedAt } = await made()
  const other = await made(undefined, { provider: 'other' })
  t.same(await run(other.id, unknown), [[], undefined, 0], 'of another provider')
  t.same(await run(id, unknown), [[], 'again', 1])
  const lost = async (): Promise<never> => {
    throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'lost')
  }
  clock.set(updatedAt + DAY_MS - 1)
  t.same(await run(id, unknown), [[], 'again', 1])
  await t.rejects(run(id, lost), { code: 'ERR_PROVIDER_UNAVAILABLE' })
  calls.splice(0)
  clock.set(updatedAt + DAY_MS)
  t.same(await run(id, unknown), [[], undefined, 1])
  t.same(await run(id, lost), [[], undefined, 1], 'an error ends it, too')
  const seen = async (): Promise<DepositReport> => ({ status: 'processing', payments: [] })
  t.same(await run(id, seen), [['applied'], 'again', 1], 'it has just changed')
})

t.test('applies a report that comes as an event', async t => {
  const event = internals.depositReportEvent(deposits.report)
  const check = compileSchema(event.data)
  const { id } = await made()
  const data = { id, status: 'processing', payments: [] }
  t.equal(check(data), undefined)
  t.match(check({ ...data, id: undefined }), { path: ['id'] })
  t.match(check({ ...data, status: 'gone' }), { path: ['status'] })
  const applied = db.transaction(tx =>
    event.apply(tx, data as never, { provider: 'p', now: clock.now(), moneyId: 'message-1' }),
  )
  t.equal(await applied, 'applied')
})
