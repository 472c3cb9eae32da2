import { allow, type Verdict } from '@gatewright/kernel'
import { together } from '@gatewright/kernel/internal/sql'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import {
  type HostServices,
  type Operation,
  type Success,
  events,
  ledgerWrite,
  listOperation,
  payAtOnce,
  type Transaction,
  type TransactionEntry,
  type HostDenial,
} from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'
import { textOrNull, component, instant, nameText, text } from '@gatewright/host/schemas'
import { isEthereumAddress } from '../../chain/addresses.ts'
import { deny } from '../../product/denials.ts'
import { userPayee } from '../../product/payees.ts'
import * as examples from '../examples.ts'
import { findSent, paymentPage, usersOfWallet } from './store.ts'
import type { UserStore } from '../users/store.ts'

/** What payments between users work with. */
interface PaymentServices extends Pick<HostServices, 'db' | 'clock' | 'ledger' | 'money'> {
  readonly users: UserStore
}

const cents = Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'US cents' })
const Body = Type.Object(
  {
    to: Type.Object(
      {
        walletAddress: Type.String({
          pattern: '^0x[0-9a-fA-F]{40}$',
          description:
            'The wallet of the receiver, not a contract. In mixed case it must have its checksum (EIP-55)',
        }),
      },
      component('PaymentReceiver', 'Who receives the payment: a wallet user of this host'),
    ),
    amountCents: cents,
    memo: Type.Optional(nameText(1, 140)),
  },
  component('PaymentRequest', 'Whom to pay, and how much'),
)
const PaymentSchema = Type.Object(
  {
    id: text('Names the payment, for both sides'),
    direction: Type.Enum(['debit', 'credit'], { description: 'debit: sent; credit: received' }),
    counterparty: Type.Object(
      { walletAddress: text('The wallet of the other side') },
      component('PaymentCounterparty', 'Who is on the other side'),
    ),
    amountCents: cents,
    memo: textOrNull('What the sender wrote to the receiver'),
    status: Type.Enum(['completed']),
    createdAt: instant('When it was made'),
  },
  component('Payment', 'A payment between two wallet users. It cannot be taken back'),
)
const ResponseData = Type.Object({ payment: PaymentSchema }, component('PaymentResponse', 'The payment'))
const RECEIVER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const example = {
  id: 'pay_5f1c9f0f2f3b4b7e9d9a3d1f0c6b8e7a',
  direction: 'debit' as const,
  counterparty: { walletAddress: RECEIVER },
  amountCents: 1234,
  memo: 'Lunch',
  status: 'completed' as const,
  createdAt: examples.AT,
}

/** `GET` and `POST /user/v1/payments`: lists payments, and pays another wallet user of this host. */
export function paymentOperations(services: PaymentServices): Operation[] {
  const { db } = services
  return [
    listOperation({
      id: 'payments.list',
      title: 'List payments',
      details: 'Sent and received, newest first.',
      path: '/user/v1/payments',
      scopes: ['payments.read'],
      byCreation: true,
      name: 'payments',
      component: component('PaymentList', 'A page of payments'),
      item: PaymentSchema,
      example,
      rows: (accountId, page) => paymentPage(db, accountId, page),
      write: rows => rows.map(paymentData),
    }),
    createPayment(services),
  ]
}

function createPayment(services: PaymentServices): Operation {
  const { clock, users } = services
  return ledgerWrite({
    id: 'payments.create',
    title: 'Pay another wallet user of this host',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/payments'],
    credential: 'session',
    scopes: ['payments.write'],
    spends: 'spend',
    requires: 'onboarding',
    body: Body,
    response: ResponseData,
    denies: [404],
    example: {
      body: { to: { walletAddress: RECEIVER }, amountCents: 1234, memo: 'Lunch' },
      response: { payment: example },
    },
    async write({ caller, body: { to, amountCents, memo = null } }, context) {
      const { tx, effectId, permits, spendsNothing } = context
      const { accountId } = caller.session
      const id = `pay_${effectId}`
      const [made, receiver, payer] = await together(
        tx,
        on => findSent(on, accountId, id),
        on => findReceiver(on, accountId, to.walletAddress),
        on => users.ofAccount(on, accountId),
      )
      if (made) {
        spendsNothing()
        const permitted = await permits({ amountCents, currency: 'USD' })
        return permitted.ok ? response(made) : permitted
      }
      if (!receiver.ok) return receiver
      const now = clock.now()
      const credit = ledgerAccounts.user(receiver.value)
      const payee = userPayee(receiver.value, to.walletAddress)
      const payment = { id, accountId, credit, amountCents, payee, cause: 'payment' }
      const common = { type: 'payment', status: 'completed', amountCents, memo } as const
      const sent: TransactionEntry = {
        ...common,
        ...side(id, 'sent'),
        accountId,
        keyId: caller.session.keyId,
        counterparty: to.walletAddress.toLowerCase(),
      }
      const received: TransactionEntry = {
        ...common,
        ...side(id, 'received'),
        accountId: receiver.value,
        counterparty: payer.walletAddress,
      }
      const entries = [sent, received]
      const paid = await payAtOnce(services, context, { ...payment, entries }, now)
      if (!paid.ok) return paid
      const subject = { kind: 'payment', id }
      const event = { accountId: receiver.value, subject, to: 'completed', cause: 'received', amountCents }
      await events.record(tx, { ...event, isFirst: true }, now)
      return response({ ...sent, createdAt: now })
    },
  })
}

/** What the transaction of one side of a payment says. */
const side = (id: string, part: 'sent' | 'received') =>
  ({
    source: { kind: 'payment', id, part },
    direction: part === 'sent' ? 'debit' : 'credit',
    description: `Payment ${part}`,
  }) as const

const response = (sent: SentPayment): Verdict<Success> =>
  allow({ data: { payment: paymentData(sent) }, summary: 'The payment is made.' })

/** Finds the account of a receiver. Denials: `invalid_request`, `not_found`. */
async function findReceiver(
  tx: SqlQueries,
  accountId: string,
  walletAddress: string,
): Promise<Verdict<string, HostDenial>> {
  const denied = (message: string): HostDenial => deny('invalid_request', message, { field: 'to' })
  if (!isEthereumAddress(walletAddress)) return denied('to.walletAddress has a wrong checksum (EIP-55)')
  const users = await usersOfWallet(tx, walletAddress.toLowerCase())
  if (users.some(user => user.accountId === accountId)) return denied('to.walletAddress is your own')
  const receiver = users.find(user => !user.isContract)
  if (!receiver) return noReceiver
  if (users.length > 1) return denied('to.walletAddress is the wallet of two accounts')
  return allow(receiver.accountId)
}

// The request names no chain, and the same contract address on two chains can have two owners.
const noReceiver = deny(
  'payee_not_found',
  'no user signs with a key of this address. A contract wallet cannot be paid: send the address of another wallet of the receiver',
  { field: 'to' },
)

/** What a payment shows to one of its sides. */
type SentPayment = Pick<Transaction, 'createdAt'> &
  Pick<TransactionEntry, 'source' | 'direction' | 'counterparty' | 'amountCents' | 'memo'>

function paymentData(side: SentPayment): Record<string, unknown> {
  const { source, direction, counterparty: walletAddress, amountCents, memo, createdAt } = side
  return {
    id: source.id,
    direction,
    counterparty: { walletAddress },
    amountCents,
    memo,
    status: 'completed',
    createdAt: new Date(createdAt).toISOString(),
  }
}
