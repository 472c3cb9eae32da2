import type { Static } from 'typebox/type'
import { AT, key, WALLET } from '../../examples.ts'
import type { PayinDetailSchema, PayinSchema, SubscriptionSchema } from './fields.ts'

/** The hash of the paying transaction. */
export const TX_HASH = '0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b'

/** A subscription before its first payment. */
export const subscription: Static<typeof SubscriptionSchema> = {
  id: 'sub_1f0e8a2b6c8d4a7f9b1e3c5d7a9b1c3d',
  plan: 'basic',
  status: 'incomplete',
  amountCents: 500,
  currency: 'USD',
  interval: 'month',
  paidThrough: null,
  createdAt: AT,
  canceledAt: null,
}

const payin: Static<typeof PayinSchema> = {
  id: 'payin_70a8154ab02b447c9eb3a0680650799a',
  status: 'awaiting_payment',
  subscriptionId: null,
  plan: null,
  description: 'Order 1003',
  amountCents: 2500,
  currency: 'USD',
  method: 'onchain',
  txHash: null,
  keyId: key.userKeyId,
  expiresAt: '2026-11-02T12:00:00.000Z',
  createdAt: AT,
}

/** A pay-in that fills the balance, paid from the account's wallet. */
export const onchainPayin: Static<typeof PayinSchema> = {
  ...payin,
  payTo: {
    address: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    chainId: 8453,
    token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    asset: 'USDC',
    units: '25000000',
    from: WALLET,
  },
}

/** A pay-in for the first period of the subscription. */
export const subscriptionPayin: Static<typeof PayinSchema> = {
  ...payin,
  subscriptionId: subscription.id,
  plan: subscription.plan,
  amountCents: subscription.amountCents,
}

/** The pay-in that fills the balance with its history, after the client submitted a transaction. */
export const payinDetail: Static<typeof PayinDetailSchema> = {
  ...onchainPayin,
  status: 'confirming',
  txHash: TX_HASH,
  properties: { metadata: { order: '0001' } },
  history: [
    { from: null, to: 'awaiting_payment', cause: 'created', detail: null, at: AT },
    {
      from: 'awaiting_payment',
      to: 'confirming',
      cause: 'submitted',
      detail: TX_HASH,
      at: '2026-11-01T12:03:00.000Z',
    },
  ],
}
