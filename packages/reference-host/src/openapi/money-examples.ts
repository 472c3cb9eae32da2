import type { Example } from './examples.ts'

const AT = '2026-11-01T12:00:00.000Z'
const PAYIN = 'payin_70a8154ab02b447c9eb3a0680650799a'
const SUBSCRIPTION = 'sub_1f0e8a2b6c8d4a7f9b1e3c5d7a9b1c3d'
const TX = '0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b'

const payin = {
  ...{ id: PAYIN, status: 'awaiting_payment', subscriptionId: null, plan: null },
  ...{ amountCents: 2500, currency: 'USD', method: 'onchain', txHash: null },
  ...{ expiresAt: '2026-11-02T12:00:00.000Z', createdAt: AT },
}
const toBePaid = {
  ...payin,
  payTo: {
    address: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    chainId: 8453,
    token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    asset: 'USDC',
    units: '25000000',
    from: '0x52908400098527886e0f7030069857d2e4169ee7',
  },
}
const forSubscription = { subscriptionId: SUBSCRIPTION, plan: 'basic', amountCents: 500 }
const subscription = {
  ...{ id: SUBSCRIPTION, plan: 'basic', status: 'incomplete', amountCents: 500, currency: 'USD' },
  ...{ interval: 'month', paidThrough: null, createdAt: AT },
}

/** Examples of subscriptions, balances and deposits, by operation id. */
export const moneyExamples: Readonly<Record<string, Example>> = {
  'subscriptions.payin': {
    body: { amountCents: 2500, metadata: { order: '0001' } },
    answer: { payin: toBePaid },
  },
  'subscriptions.confirm': {
    body: { payinId: PAYIN, txHash: TX },
    answer: { payin: { ...toBePaid, status: 'confirming', txHash: TX } },
  },
  'subscriptions.confirmBalance': {
    body: { payinId: PAYIN },
    answer: { payin: { ...payin, ...forSubscription, status: 'settled', method: 'balance' } },
  },
  'subscriptions.checkout': {
    body: { plan: 'basic' },
    answer: { subscription, payin: { ...payin, ...forSubscription } },
  },
  'subscriptions.list': {
    answer: {
      subscriptions: [{ ...subscription, status: 'active', paidThrough: '2026-12-01T12:00:00.000Z' }],
      nextCursor: null,
    },
  },
  'subscriptions.plans': {
    answer: {
      plans: [{ id: 'basic', title: 'Basic', amountCents: 500, currency: 'USD', interval: 'month' }],
      nextCursor: null,
    },
  },
  'subscriptions.payins': { answer: { payins: [toBePaid], nextCursor: 'YWZ0ZXI6MQ' } },
  'subscriptions.readPayin': {
    answer: {
      payin: {
        ...{ ...toBePaid, status: 'confirming', txHash: TX, properties: { metadata: { order: '0001' } } },
        history: [
          { from: null, to: 'awaiting_payment', cause: 'created', detail: null, at: AT },
          {
            ...{ from: 'awaiting_payment', to: 'confirming', cause: 'submitted', detail: TX },
            at: '2026-11-01T12:03:00.000Z',
          },
        ],
      },
    },
  },
  'balances.read': { answer: { balances: [{ currency: 'USD', availableCents: 10_000 }] } },
  'deposits.create': {
    body: { amountCents: 10_000 },
    answer: {
      deposit: {
        ...{ id: 'dep_4b1f', status: 'completed', amountCents: 10_000, currency: 'USD', createdAt: AT },
      },
    },
  },
}
