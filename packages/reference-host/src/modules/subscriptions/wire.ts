import * as Type from 'typebox/type'
import { INTERVAL_MONTHS, termEnd, type Plan, type PlanInterval } from '../../product/plans.ts'
import { Currency, instant, instantOrNull, named, text, textOrNull } from '../shapes.ts'
import type { Payin, PayinMove } from './payin.ts'
import { PAYIN_MOVES, PAYIN_STATUSES, type PayinCause } from './states.ts'
import { subscriptionStatus, type Subscription } from './subscription-store.ts'

const Interval = Type.Enum(
  Object.keys(INTERVAL_MONTHS) as PlanInterval[],
  named('PlanInterval', 'How long one payment lasts, in the calendar of UTC'),
)
const Status = Type.Enum([...PAYIN_STATUSES], named('PayinStatus', 'Where a pay-in stands'))
const Cause = Type.Enum(
  ['created', ...(Object.keys(PAYIN_MOVES) as PayinCause[])],
  named('PayinCause', 'What moved a pay-in'),
)

const PayToShape = Type.Object(
  {
    address: text('Where to send to'),
    chainId: Type.Integer({ description: 'The chain, by its EIP-155 number' }),
    token: text('The contract of the ERC-20 token'),
    asset: text('The name of the token, such as USDC'),
    units: text("The amount in the token's smallest unit; JSON numbers could not hold it"),
    from: textOrNull('The wallet that must send; null: anybody may'),
  },
  named('PayTo', 'What to send on a chain, and where'),
)

const payinFields = {
  id: text('Names the pay-in'),
  status: Status,
  subscriptionId: textOrNull('The subscription that it pays for'),
  plan: textOrNull('The plan that it pays for'),
  amountCents: Type.Integer({ description: 'The price in cents' }),
  currency: Currency,
  method: Type.Enum(['onchain', 'balance'], { description: 'How it is paid' }),
  payTo: Type.Optional(PayToShape),
  txHash: textOrNull('The transaction that pays it, as far as it is known'),
  expiresAt: instant('Until when it can be paid'),
  createdAt: instant('When it was asked for'),
}

/** A pay-in as clients see it. */
export const PayinShape = Type.Object(
  payinFields,
  named('Payin', 'A payment that was asked for: for a subscription, a plan, or into the balance'),
)

/** An answer of nothing but a pay-in. */
export const PayinAnswer = Type.Object({ payin: PayinShape }, named('PayinAnswer', 'A pay-in as it stands'))

const PayinMoveShape = Type.Object(
  {
    from: Type.Union([Status, Type.Null()], { description: 'Null for its beginning' }),
    to: Status,
    cause: Cause,
    detail: textOrNull('A transaction or a reason, by the cause'),
    at: instant('When it moved'),
  },
  named('PayinMove', 'One step in the history of a pay-in'),
)

/** A pay-in with its history and the properties that its request brought along. */
export const PayinDetailShape = Type.Object(
  {
    ...payinFields,
    properties: Type.Object(
      {},
      { description: 'Members of the request that the host does not use, as they came' },
    ),
    history: Type.Array(PayinMoveShape, { description: 'All its steps, oldest first' }),
  },
  named('PayinDetail', 'A pay-in with its history'),
)

/** A subscription as clients see it. */
export const SubscriptionShape = Type.Object(
  {
    id: text('Names the subscription'),
    plan: text('The plan, by its id'),
    status: Type.Enum(['incomplete', 'active', 'past_due'], {
      description: 'incomplete: never paid; past_due: the paid time is over',
    }),
    amountCents: Type.Integer({ description: 'The price of one period in cents' }),
    currency: Currency,
    interval: Interval,
    paidThrough: instantOrNull('The end of the paid time; null: never paid'),
    createdAt: instant('When it was made'),
  },
  named('Subscription', 'A subscription of the account to a plan'),
)

/** A plan as clients see it. */
export const PlanShape = Type.Object(
  {
    id: text('Names the plan'),
    title: text('One line for people'),
    amountCents: Type.Integer({ description: 'The price of one period in cents' }),
    currency: Currency,
    interval: Interval,
  },
  named('Plan', 'What one can subscribe to'),
)

type Wire = Record<string, unknown>

/** Writes a pay-in for clients. */
export function wirePayin(payin: Payin): Wire {
  const { id, status, subscriptionId, planId, amountCents, currency, method, payTo, seen } = payin
  return {
    ...{ id, status, subscriptionId, plan: planId, amountCents, currency, method },
    // A pay-in that the balance paid has no address any more: nothing must be sent there.
    ...(payTo && method === 'onchain'
      ? {
          payTo: {
            ...{ address: payTo.address, chainId: payTo.chainId, token: payTo.token, asset: payTo.asset },
            ...{ units: payTo.units.toString(), from: payTo.payer },
          },
        }
      : {}),
    txHash: seen?.txHash ?? payin.submittedTx,
    ...{ expiresAt: isoTime(payin.expiresAt), createdAt: isoTime(payin.createdAt) },
  }
}

/** Writes a pay-in with its history. */
export function wirePayinDetail(payin: Payin, history: readonly PayinMove[]): Wire {
  return {
    ...wirePayin(payin),
    properties: payin.properties,
    history: history.map(({ at, ...move }) => ({ ...move, at: isoTime(at) })),
  }
}

/** Writes a subscription as it stands at `now`. */
export function wireSubscription(subscription: Subscription, now: number): Wire {
  const { id, planId, amountCents, interval, term, createdAt } = subscription
  return {
    ...{
      id,
      plan: planId,
      status: subscriptionStatus(subscription, now),
      amountCents,
      currency: 'USD',
      interval,
    },
    paidThrough: term ? isoTime(termEnd(term)) : null,
    createdAt: isoTime(createdAt),
  }
}

/** Writes a plan for clients. */
export function wirePlan({ id, title, amountCents, interval }: Plan): Wire {
  return { id, title, amountCents, currency: 'USD', interval }
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}
