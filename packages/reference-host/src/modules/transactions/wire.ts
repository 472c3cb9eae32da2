import * as Type from 'typebox/type'
import { component, instant, text } from '@gatewright/host/schemas'
import { Currency, textOrNull } from '@gatewright/host/internal'
import { TRANSACTION_TYPES, type Transaction } from '@gatewright/host/internal'
import * as examples from '../examples.ts'

const common = {
  type: Type.Enum([...TRANSACTION_TYPES], {
    description:
      'spend: by card; collateral: deposits, withdrawals, credits and money put aside; payment: payments, bills, pay-ins',
  }),
  status: Type.Enum(['pending', 'completed', 'declined', 'reversed', 'failed']),
  amountCents: Type.Integer({ minimum: 0, description: 'US cents, never negative' }),
  currency: Currency,
  direction: Type.Enum(['debit', 'credit'], { description: 'debit: it leaves the balance' }),
  description: text('One line for people'),
  cardId: textOrNull('The card that was used'),
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
  createdAt: examples.AT,
  updatedAt: examples.AT,
}
const commonData = ({ type, status, amountCents, direction, description, cardId, ...at }: Transaction) => ({
  type,
  status,
  amountCents,
  currency: 'USD',
  direction,
  description,
  cardId,
  createdAt: new Date(at.createdAt).toISOString(),
  updatedAt: new Date(at.updatedAt).toISOString(),
})
const ID = 'txn_0c8d64aa6ff94d8f8c3c3c7c22a70b1d'

/** The form of a transaction on the user surface. */
export const userForm = {
  schema: Type.Object(
    {
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
      source: Type.Object(
        { kind: text('What kind of thing moved the money'), id: text('Names that thing') },
        component('TransactionSource', 'What a transaction is about'),
      ),
    },
    component('Transaction', 'What happened to money of the account'),
  ),
  example: {
    id: ID,
    ...commonExample,
    displayAmount: '$12.34',
    merchant: null,
    merchantDetails: null,
    source: { kind: 'payment', id: 'pay_5f1c9f0f2f3b4b7e9d9a3d1f0c6b8e7a' },
  },
  write(transaction: Transaction): Record<string, unknown> {
    const { id, amountCents, merchant, source } = transaction
    return {
      id,
      ...commonData(transaction),
      displayAmount: `$${(amountCents / 100).toFixed(2)}`,
      merchant: merchant?.name ?? null,
      merchantDetails: merchant && { mcc: merchant.mcc, city: merchant.city, country: merchant.country },
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
