import * as Type from 'typebox/type'
import { component, instant, text, Currency, textOrNull } from '@gatewright/host/schemas'
import { MAX_HISTORY, TRANSACTION_STATUSES, TRANSACTION_TYPES } from '@gatewright/host/internal'
import type { RecordedEvent, Transaction } from '@gatewright/host'
import * as examples from '../examples.ts'

const common = {
  type: Type.Enum([...TRANSACTION_TYPES], {
    description:
      'spend: by card; collateral: deposits, withdrawals, credits and money put aside; payment: payments, bills, pay-ins',
  }),
  status: Type.Enum([...TRANSACTION_STATUSES]),
  amountCents: Type.Integer({ minimum: 0, description: 'US cents, never negative' }),
  currency: Currency,
  direction: Type.Enum(['debit', 'credit'], { description: 'debit: it leaves the balance' }),
  description: text('One line for people'),
  cardId: textOrNull('The card that was used'),
  keyId: textOrNull(
    'The API key that caused it; for a payment by card, the key that made the card. Null: nobody used a key for it',
  ),
  createdAt: instant('When it was first recorded'),
  updatedAt: instant('When it changed last'),
}
const commonExample = {
  type: 'payment' as const,
  status: 'completed' as const,
  amountCents: 1234,
  currency: 'USD' as const,
  direction: 'debit' as const,
  description: 'Payment sent',
  cardId: null,
  keyId: examples.key.userKeyId,
  createdAt: examples.AT,
  updatedAt: examples.AT,
}
const commonData = ({
  type,
  status,
  amountCents,
  direction,
  description,
  cardId,
  keyId,
  ...at
}: Transaction) => ({
  type,
  status,
  amountCents,
  currency: 'USD',
  direction,
  description,
  cardId,
  keyId,
  createdAt: new Date(at.createdAt).toISOString(),
  updatedAt: new Date(at.updatedAt).toISOString(),
})
const ID = 'txn_0c8d64aa6ff94d8f8c3c3c7c22a70b1d'

const userFields = {
  id: text('Names the transaction'),
  ...common,
  displayAmount: text('The amount for people, such as $12.34'),
  merchant: textOrNull('Who was paid by card'),
  merchantDetails: Type.Union(
    [
      Type.Object({
        mcc: Type.String(),
        city: Type.Union([Type.String(), Type.Null()]),
        country: Type.String(),
      }),
      Type.Null(),
    ],
    { description: 'Category code, city and country of the merchant' },
  ),
  counterparty: Type.Union(
    [
      Type.Object(
        { walletAddress: text('The wallet of the other side') },
        component('TransactionCounterparty', 'The other side of a payment between users'),
      ),
      Type.Null(),
    ],
    { description: 'Who paid or was paid; null if it was no user of this host' },
  ),
  memo: textOrNull('What the sender of a payment wrote to its receiver'),
  source: Type.Object(
    { kind: text('What kind of thing moved the money'), id: text('Names that thing') },
    component('TransactionSource', 'What a transaction is about'),
  ),
}

/** The form of a transaction on the user surface. */
export const userForm = {
  schema: Type.Object(userFields, component('Transaction', 'What happened to money of the account')),
  example: {
    id: ID,
    ...commonExample,
    displayAmount: '$12.34',
    merchant: null,
    merchantDetails: null,
    counterparty: { walletAddress: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' },
    memo: 'Lunch',
    source: { kind: 'payment', id: 'pay_5f1c9f0f2f3b4b7e9d9a3d1f0c6b8e7a' },
  },
  write(transaction: Transaction): Record<string, unknown> {
    const { id, amountCents, merchant, counterparty, memo, source } = transaction
    return {
      id,
      ...commonData(transaction),
      displayAmount: `$${(amountCents / 100).toFixed(2)}`,
      merchant: merchant?.name ?? null,
      merchantDetails: merchant && { mcc: merchant.mcc, city: merchant.city, country: merchant.country },
      counterparty: counterparty === null ? null : { walletAddress: counterparty },
      memo,
      source: { kind: source.kind, id: source.id },
    }
  },
}

/** The form of a transaction on the partner surface. */
export const partnerForm = {
  schema: Type.Object(
    {
      transactionId: text('Names the transaction'),
      ...common,
      merchantName: textOrNull('Who was paid by card'),
    },
    component('PartnerTransaction', 'What happened to money of the session user'),
  ),
  example: { transactionId: ID, ...commonExample, merchantName: null },
  write: (transaction: Transaction): Record<string, unknown> => ({
    transactionId: transaction.id,
    ...commonData(transaction),
    merchantName: transaction.merchant?.name ?? null,
  }),
}

const TransactionMove = Type.Object(
  {
    from: textOrNull('The state before; null for the first move, and for one that changes no state'),
    to: textOrNull('The state after; null for a move that changes no state'),
    cause: text('Why, in one word, such as `requested` or `cleared`'),
    amountCents: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The amount of this move, if it has one',
    }),
    at: instant('When it happened'),
  },
  component(
    'TransactionMove',
    'What happened to the payment, pay-in, deposit or other object of a transaction',
  ),
)

/** Schema of a transaction with its history. */
export const TransactionDetail = Type.Object(
  {
    ...userFields,
    history: Type.Array(TransactionMove, {
      maxItems: MAX_HISTORY,
      description: 'The last moves of what it is about, oldest first. Empty: it was complete at once',
    }),
  },
  component('TransactionDetail', 'A transaction and what happened to it'),
)

/** A transaction with its history, for the API description. */
export const detailExample = { ...userForm.example, history: [] }

/** Converts a transaction with the events of what it is about. */
export function detailOf(
  transaction: Transaction,
  history: readonly RecordedEvent[],
): Record<string, unknown> {
  return {
    ...userForm.write(transaction),
    history: history.map(({ from, to, cause, amountCents, at }) => ({
      from,
      to,
      cause,
      amountCents,
      at: new Date(at).toISOString(),
    })),
  }
}
