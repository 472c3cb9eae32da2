import * as Type from 'typebox/type'
import { component, instant, text, Currency, instantOrNull, textOrNull } from '@gatewright/host/schemas'
import { INTERVAL_MONTHS, termEnd, type Plan, type PlanInterval } from '../../../product/plans.ts'
import type { NewPayin, Payin, PayinMove } from '../payins/payin.ts'
import { PAYIN_MOVES, PAYIN_STATUSES, type PayinCause } from '../payins/states.ts'
import { MAX_MOVES } from '../payins/payin-store.ts'
import { subscriptionStatus, type Subscription } from '../subscription-store.ts'

const Interval = Type.Enum(
  Object.keys(INTERVAL_MONTHS) as PlanInterval[],
  component('PlanInterval', 'The length of a period, in calendar months (UTC)'),
)
const Status = Type.Enum([...PAYIN_STATUSES], component('PayinStatus', 'The status of a pay-in'))
const Cause = Type.Enum(
  ['created', ...(Object.keys(PAYIN_MOVES) as PayinCause[])],
  component('PayinCause', 'The cause of a move between statuses'),
)

const PayToSchema = Type.Object(
  {
    address: text('Where to send to'),
    chainId: Type.Integer({ description: 'The chain, by its EIP-155 number' }),
    token: text('The contract of the ERC-20 token'),
    asset: text('The name of the token, such as USDC'),
    units: text("The amount in the token's smallest unit; JSON numbers could not hold it"),
    from: textOrNull('The wallet that must send; null: anybody may'),
  },
  component('PayTo', 'What to send on a chain, and where'),
)

const payinFields = {
  id: text('The id of the pay-in'),
  status: Status,
  subscriptionId: textOrNull('The subscription that it pays for'),
  plan: textOrNull('The plan that it pays for'),
  description: textOrNull(
    'What it is for, in one line: `description`, `orderId` and `reference` of the request, at most 120 characters',
  ),
  amountCents: Type.Integer({ description: 'The price in cents' }),
  currency: Currency,
  method: Type.Enum(['onchain', 'balance'], { description: 'How it is paid' }),
  payTo: Type.Optional(PayToSchema),
  txHash: textOrNull('The transaction that pays it, once it is known'),
  keyId: textOrNull('The API key that asked for it'),
  expiresAt: instant('Until when it can be paid'),
  createdAt: instant('When it was created'),
}

/** Schema of a pay-in. */
export const PayinSchema = Type.Object(
  payinFields,
  component('Payin', 'A requested payment: for a subscription, a plan, or into the balance'),
)

/** Schema of a response with one pay-in. */
export const PayinResponse = Type.Object({ payin: PayinSchema }, component('PayinResponse', 'One pay-in'))

const PayinMoveSchema = Type.Object(
  {
    from: Type.Union([Status, Type.Null()], { description: 'Null for its creation' }),
    to: Status,
    cause: Cause,
    detail: textOrNull('A transaction or a reason, depending on the cause'),
    at: instant('When it moved'),
  },
  component('PayinMove', 'A move of a pay-in between two statuses'),
)

/** Schema of a pay-in with its history and the unused members of its request. */
export const PayinDetailSchema = Type.Object(
  {
    ...payinFields,
    properties: Type.Object(
      {},
      { description: 'Members of the request that the host does not use, as they came' },
    ),
    history: Type.Array(PayinMoveSchema, {
      maxItems: MAX_MOVES,
      description: 'Its last 100 moves, oldest first',
    }),
  },
  component('PayinDetail', 'A pay-in with its history'),
)

/** Schema of a subscription. */
export const SubscriptionSchema = Type.Object(
  {
    id: text('The id of the subscription'),
    plan: text('The plan, by its id'),
    status: Type.Enum(['incomplete', 'active', 'past_due'], {
      description: 'incomplete: never paid; past_due: the paid time is over',
    }),
    amountCents: Type.Integer({ description: 'The price of one period in cents' }),
    currency: Currency,
    interval: Interval,
    paidThrough: instantOrNull('The end of the paid time; null: never paid'),
    createdAt: instant('When it was created'),
    canceledAt: instantOrNull('When it was canceled: it has no further period'),
  },
  component('Subscription', 'A subscription of the account to a plan'),
)

/** Schema of a plan. */
export const PlanSchema = Type.Object(
  {
    id: text('The id of the plan'),
    title: text('One line for people'),
    amountCents: Type.Integer({ description: 'The price of one period in cents' }),
    currency: Currency,
    interval: Interval,
  },
  component('Plan', 'A plan to subscribe to'),
)

/** Converts a pay-in for responses. */
export function payinData(payin: Payin): Record<string, unknown> {
  const { id, status, subscriptionId, planId, description, amountCents, currency, method, payTo } = payin
  const { seen, keyId } = payin
  return {
    id,
    status,
    subscriptionId,
    plan: planId,
    description,
    amountCents,
    currency,
    method,
    // A pay-in paid from the balance shows no address, since nothing must be sent there.
    ...(payTo && method === 'onchain'
      ? {
          payTo: {
            address: payTo.address,
            chainId: payTo.chainId,
            token: payTo.token,
            asset: payTo.asset,
            units: payTo.units.toString(),
            from: payTo.payer,
          },
        }
      : {}),
    txHash: seen?.txHash ?? payin.submittedTx,
    keyId,
    expiresAt: isoTime(payin.expiresAt),
    createdAt: isoTime(payin.createdAt),
  }
}

/** Converts a pay-in for responses, with its history and the unused members of its request. */
export function payinDetailData(
  payin: Payin,
  properties: NewPayin['properties'],
  history: readonly PayinMove[],
): Record<string, unknown> {
  return {
    ...payinData(payin),
    properties,
    history: history.map(({ at, ...move }) => ({ ...move, at: isoTime(at) })),
  }
}

/** Converts a subscription for responses, with its status at `now`. */
export function subscriptionData(subscription: Subscription, now: number): Record<string, unknown> {
  const { id, planId, amountCents, interval, term, createdAt, canceledAt } = subscription
  return {
    id,
    plan: planId,
    status: subscriptionStatus(subscription, now),
    amountCents,
    currency: 'USD',
    interval,
    paidThrough: term ? isoTime(termEnd(term)) : null,
    createdAt: isoTime(createdAt),
    canceledAt: canceledAt === null ? null : isoTime(canceledAt),
  }
}

/** Converts a plan for responses. */
export function planData({ id, title, amountCents, interval }: Plan): Record<string, unknown> {
  return { id, title, amountCents, currency: 'USD', interval }
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}
