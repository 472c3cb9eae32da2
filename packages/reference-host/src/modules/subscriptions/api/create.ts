import { allow, type Verdict } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { Static } from 'typebox/type'
import { component, idText } from '@gatewright/host/schemas'
import { type Operation, ledgerWrite, type WriteContext, type HostDenial } from '@gatewright/host'
import { deny } from '../../../product/denials.ts'
import * as examples from './examples.ts'
import { PayinResponse, PayinSchema, SubscriptionSchema, payinData, subscriptionData } from './fields.ts'
import { type PayinRequestServices, payinTerms, requestPayin, type Purchase } from './request-payin.ts'
import { payins } from '../payins/payin-store.ts'
import { subscriptions } from '../subscription-store.ts'
import type { Plan } from '../../../product/plans.ts'

/** What the purchase of a plan works with. */
interface PurchaseServices extends PayinRequestServices {
  readonly plans: readonly Plan[]
}

const Plan = idText(120, 'A plan, by its id')
// Both bodies accept other members: a pay-in stores members that the host does not use.
const PayinBody = Type.Object(
  {
    subscriptionId: Type.Optional(idText(120, 'A subscription of the account')),
    plan: Type.Optional(Plan),
    amountCents: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000_000,
        description: 'US cents, where no plan has the price',
      }),
    ),
    ...payinTerms,
  },
  {
    ...component(
      'PayinRequest',
      'What to pay for (a subscription, a plan or an amount into the balance), and how',
    ),
    additionalProperties: true,
  },
)
const CheckoutBody = Type.Object(
  { plan: Plan, ...payinTerms },
  {
    ...component('CheckoutRequest', 'Which plan to subscribe to, and how to pay the first period'),
    additionalProperties: true,
  },
)
const CheckoutResponse = Type.Object(
  { subscription: SubscriptionSchema, payin: PayinSchema },
  component('CheckoutResponse', 'The new subscription and the pay-in of its first period'),
)

/** `POST /user/v1/subscriptions/payin`: requests a payment. */
export function createPayin(services: PurchaseServices): Operation {
  return ledgerWrite({
    id: 'subscriptions.payin',
    title: 'Create a pay-in',
    details: 'For a subscription, a plan, or into the balance.',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/payin'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    body: PayinBody,
    response: PayinResponse,
    example: {
      body: { amountCents: 2500, metadata: { order: '0001' } },
      response: { payin: examples.onchainPayin },
    },
    denies: [404],
    spends: 'spend',
    async write(call, context) {
      const purchase = await readPurchase(services, context, call.caller.session.accountId, call.body)
      if (!purchase.ok) return purchase
      const payin = await requestPayin(services, call, context, purchase.value)
      if (!payin.ok) return payin
      return allow({ data: { payin: payinData(payin.value) }, summary: 'The pay-in awaits its payment.' })
    },
  })
}

/**
 * `POST /user/v1/subscriptions/checkout`: creates a subscription to a plan, and the pay-in for its first
 * period.
 */
export function checkout(services: PurchaseServices): Operation {
  const { clock, plans } = services
  return ledgerWrite({
    id: 'subscriptions.checkout',
    title: 'Subscribe to a plan',
    details: 'Makes the subscription and its first pay-in.',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/checkout'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    body: CheckoutBody,
    response: CheckoutResponse,
    example: {
      body: { plan: 'basic' },
      response: { subscription: examples.subscription, payin: examples.subscriptionPayin },
    },
    spends: 'spend',
    async write(call, context) {
      const plan = plans.find(({ id }) => id === call.body.plan)
      if (!plan) return noSuchPlan(plans)
      const { tx, effectId } = context
      const now = clock.now()
      const { accountId } = call.caller.session
      const subscription = await subscriptions.insert(tx, { effectId, accountId, plan, now })
      const { id, planId, amountCents } = subscription
      const payin = await requestPayin(services, call, context, { amountCents, planId, subscriptionId: id })
      if (!payin.ok) return payin
      return allow({
        data: { subscription: subscriptionData(subscription, now), payin: payinData(payin.value) },
        summary: 'The subscription starts when its pay-in is settled.',
      })
    },
  })
}

/** Reads what a pay-in pays for, and the price: that of the subscription or plan, else the requested amount. */
async function readPurchase(
  { plans }: Pick<PurchaseServices, 'plans'>,
  { tx, effectId }: Pick<WriteContext, 'tx' | 'effectId'>,
  accountId: string,
  { subscriptionId, plan: planName, amountCents, method }: Static<typeof PayinBody>,
): Promise<Verdict<Purchase, HostDenial>> {
  if (subscriptionId !== undefined) {
    const found = await subscriptions.findForPayin(tx, accountId, subscriptionId)
    if (!found) return deny('not_found', 'no such subscription', { field: 'subscriptionId' })
    // A repeat of an earlier request still gets its pay-in.
    if (found.canceledAt !== null && !(await payins.findByEffect(tx, accountId, effectId))) {
      const message = 'this subscription is canceled: subscribe again by a checkout'
      return deny('invalid_request', message, { field: 'subscriptionId' })
    }
    return allow({ amountCents: found.amountCents, planId: found.planId, subscriptionId })
  }
  if (planName !== undefined) {
    const plan = plans.find(({ id }) => id === planName)
    if (!plan) return noSuchPlan(plans)
    return allow({ amountCents: plan.amountCents, planId: plan.id, subscriptionId: null })
  }
  if (amountCents === undefined) {
    const message = 'subscriptionId, plan or amountCents is required'
    return deny('invalid_request', message, { field: 'amountCents' })
  }
  if (method === 'balance') {
    const message =
      'method must be onchain for a pay-in that fills the balance: name a plan or a subscription'
    return deny('invalid_request', message, { field: 'method' })
  }
  return allow({ amountCents, planId: null, subscriptionId: null })
}

function noSuchPlan(plans: readonly Plan[]): HostDenial {
  const names = plans.map(({ id }) => id).join(', ')
  return deny('invalid_request', `plan must be one of the configured plans: ${names || 'there are none'}`, {
    field: 'plan',
  })
}
