import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import { INTERVAL_MONTHS, termEnd, type Plan, type PlanInterval } from '../../product/plans.ts'
import type { Payin, PayinMove } from './payin.ts'
import { PAYIN_MOVES, PAYIN_STATUSES, type PayinCause } from './states.ts'
import { subscriptionStatus, type Subscription } from './subscription-store.ts'

const When = Type.String({ format: 'date-time' })
const TextOrNull = Type.Union([Type.String(), Type.Null()])
const Interval = Type.Enum(Object.keys(INTERVAL_MONTHS) as PlanInterval[])

const payinFields = {
  id: Type.String(),
  status: Type.Enum([...PAYIN_STATUSES]),
  subscriptionId: TextOrNull,
  plan: TextOrNull,
  amountCents: Type.Integer(),
  currency: Type.Enum(['USD']),
  method: Type.Enum(['onchain', 'balance']),
  payTo: Type.Optional(
    Type.Object({
      address: Type.String(),
      chainId: Type.Integer(),
      token: Type.String(),
      asset: Type.String(),
      /** In the token's smallest unit; more than JSON numbers hold. */
      units: Type.String(),
      from: TextOrNull,
    }),
  ),
  txHash: TextOrNull,
  expiresAt: When,
  createdAt: When,
}

/** A pay-in as clients see it. */
export const PayinShape: TObject = Type.Object(payinFields)

/** A pay-in with its history and the properties that its request brought along. */
export const PayinDetailShape: TObject = Type.Object({
  ...payinFields,
  properties: Type.Object({}),
  history: Type.Array(
    Type.Object({
      from: Type.Union([Type.Enum([...PAYIN_STATUSES]), Type.Null()]),
      to: Type.Enum([...PAYIN_STATUSES]),
      cause: Type.Enum(['created', ...(Object.keys(PAYIN_MOVES) as PayinCause[])]),
      detail: TextOrNull,
      at: When,
    }),
  ),
})

/** A subscription as clients see it. */
export const SubscriptionShape: TObject = Type.Object({
  id: Type.String(),
  plan: Type.String(),
  status: Type.Enum(['incomplete', 'active', 'past_due']),
  amountCents: Type.Integer(),
  currency: Type.Enum(['USD']),
  interval: Interval,
  paidThrough: Type.Union([When, Type.Null()]),
  createdAt: When,
})

/** A plan as clients see it. */
export const PlanShape: TObject = Type.Object({
  id: Type.String(),
  title: Type.String(),
  amountCents: Type.Integer(),
  currency: Type.Enum(['USD']),
  interval: Interval,
})

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
