import { allow, type EpochMs } from '@gatewright/kernel'
import { parseInstant } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import {
  type HostServices,
  type Operation,
  events,
  ledgerWrite,
  listOperation,
  payAtOnce,
  type TransactionEntry,
} from '@gatewright/host'
import {
  component,
  instant,
  nameText,
  text,
  Currency,
  instantOrNull,
  textOrNull,
} from '@gatewright/host/schemas'
import { DATE_OR_INSTANT, isDate } from '@gatewright/host/internal'
import { systemAccounts } from '../../product/system-accounts.ts'
import { deny } from '../../product/denials.ts'
import { billerPayee } from '../../product/payees.ts'
import { lockAccount } from '../users/lock-account.ts'
import * as examples from '../examples.ts'
import { invalidState } from '../invalid-state.ts'
import { bills, billWords, type Bill } from './store.ts'

/** Maximum number of open bills of an account. */
const MOST = 100

const cents = Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'US cents' })
const Body = Type.Object(
  {
    payee: nameText(1, 80),
    amountCents: cents,
    dueAt: Type.String({
      pattern: DATE_OR_INSTANT,
      description: 'An instant (RFC 3339), or a date, which stands for its end in UTC',
    }),
    reference: Type.Optional(nameText(1, 80)),
  },
  component('BillRequest', 'What is owed, to whom and until when'),
)
const BillSchema = Type.Object(
  {
    id: text('Names the bill'),
    payee: text('Who is owed'),
    amountCents: cents,
    currency: Currency,
    reference: textOrNull('What the payee wants to read'),
    status: Type.Enum(['open', 'paid']),
    overdue: Type.Boolean({ description: 'Whether it is open after `dueAt`' }),
    dueAt: instant('Until when it should be paid'),
    paidAt: instantOrNull('When it was paid'),
    createdAt: instant('When it was noted'),
  },
  component('Bill', 'What the account notes that it owes'),
)
const ResponseData = Type.Object({ bill: BillSchema }, component('BillResponse', 'A bill'))
const example = {
  id: 'bill_9c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f',
  payee: 'City Power',
  amountCents: 4200,
  currency: 'USD' as const,
  reference: 'INV-0001',
  status: 'open' as const,
  overdue: false,
  dueAt: '2026-11-30T23:59:59.999Z',
  paidAt: null,
  createdAt: examples.AT,
}
const common = { surface: 'user', method: 'POST', credential: 'session', scopes: ['bills.write'] } as const

/** `GET` and `POST /user/v1/bills`, `POST /user/v1/bills/{id}/pay`: lists, records and pays bills. */
export function billOperations(
  services: Pick<HostServices, 'clock' | 'db' | 'ledger' | 'money'>,
): Operation[] {
  const { clock, db } = services
  return [
    listOperation({
      id: 'bills.list',
      title: 'List the bills, newest first',
      path: '/user/v1/bills',
      scopes: ['bills.read'],
      byCreation: true,
      name: 'bills',
      component: component('BillList', 'A page of bills'),
      item: BillSchema,
      example,
      rows: (accountId, page) => bills.page(db, accountId, page),
      write: rows => rows.map(bill => billData(bill, clock.now())),
    }),
    createBill(services),
    payBill(services),
  ]
}

function createBill({ clock }: Pick<HostServices, 'clock'>): Operation {
  return ledgerWrite({
    ...common,
    id: 'bills.create',
    title: 'Note a bill',
    paths: ['/user/v1/bills'],
    spends: false,
    body: Body,
    response: ResponseData,
    example: {
      body: { payee: 'City Power', amountCents: 4200, dueAt: '2026-11-30', reference: 'INV-0001' },
      response: { bill: example },
    },
    async write({ caller, body }, { tx, effectId }) {
      const { accountId } = caller.session
      const now = clock.now()
      const id = `bill_${effectId}`
      const existing = await bills.find(tx, accountId, id)
      if (existing) return success(existing, now)
      const dueAt = parseInstant(isDate(body.dueAt) ? `${body.dueAt}T23:59:59.999Z` : body.dueAt)
      if (dueAt === undefined)
        return deny('invalid_request', 'dueAt must be a date, such as 2026-11-30, or an instant (RFC 3339)', {
          field: 'dueAt',
        })
      await lockAccount(tx, accountId)
      if ((await bills.count(tx, accountId, 'paid_at is null')) >= MOST) {
        const details = { rule: 'max_bills' } as const
        return deny('policy_blocked', `an account has at most ${MOST} open bills`, { details })
      }
      const { payee, amountCents, reference = null } = body
      const bill = { id, accountId, payee, amountCents, reference, dueAt, createdAt: now }
      const made = (await bills.insert(tx, bill)) as Bill
      const event = { accountId, subject: { kind: 'bill', id }, to: 'open', cause: 'noted', amountCents }
      await events.record(tx, event, now)
      return success(made, now)
    },
  })
}

function payBill(services: Pick<HostServices, 'clock' | 'ledger' | 'money'>): Operation {
  const { clock } = services
  return ledgerWrite({
    ...common,
    id: 'bills.pay',
    title: 'Pay a bill from the balance',
    paths: ['/user/v1/bills/{billId}/pay'],
    spends: 'spend',
    requires: 'onboarding',
    response: ResponseData,
    example: { response: { bill: { ...example, status: 'paid', paidAt: examples.LATER } } },
    denies: [404],
    async write({ caller, params }, context) {
      const { tx } = context
      const { accountId } = caller.session
      const now = clock.now()
      const bill = await bills.lock(tx, accountId, params['billId'] as string)
      if (!bill) return deny('not_found', 'no such bill')
      if (bill.paidAt !== null) return invalidState('user', 'this bill is paid', 'status')
      const { id, amountCents } = bill
      const payment = {
        id,
        accountId,
        credit: systemAccounts.bills,
        amountCents,
        payee: billerPayee(bill.payee),
        cause: 'bill',
      }
      const entry: TransactionEntry = {
        accountId,
        type: 'payment',
        status: 'completed',
        direction: 'debit',
        source: { kind: 'bill', id },
        amountCents,
        description: billWords(bill),
        keyId: caller.session.keyId,
      }
      const paid = await payAtOnce(services, context, { ...payment, entries: [entry] }, now)
      if (!paid.ok) return paid
      const subject = { kind: 'bill', id }
      await events.record(
        tx,
        { accountId, subject, from: 'open', to: 'paid', cause: 'paid', amountCents },
        now,
      )
      return success(await bills.update(tx, bill, { paidAt: now }), now)
    },
  })
}

function success(bill: Bill, now: EpochMs) {
  const { status } = billData(bill, now)
  return allow({ data: { bill: billData(bill, now) }, summary: `The bill is ${String(status)}.` })
}

function billData(bill: Bill, now: EpochMs): Record<string, unknown> {
  const { id, payee, amountCents, reference, dueAt, paidAt, createdAt } = bill
  return {
    id,
    payee,
    amountCents,
    currency: 'USD',
    reference,
    status: paidAt === null ? 'open' : 'paid',
    overdue: paidAt === null && now > dueAt,
    dueAt: new Date(dueAt).toISOString(),
    paidAt: paidAt === null ? null : new Date(paidAt).toISOString(),
    createdAt: new Date(createdAt).toISOString(),
  }
}
