import { allow, type Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import type { Static } from 'typebox/type'
import { deny, type HostDenial } from '../../server/codes.ts'
import { ledgerWrite, type Operation } from '../../server/operation.ts'
import { idText } from '../../schemas/text.ts'
import type { ModuleServices } from '../services.ts'
import { named } from '../shapes.ts'
import * as examples from './examples.ts'
import { payinTerms, requestPayin, type Purchase } from './request.ts'
import { PayinAnswer, PayinShape, SubscriptionShape, wirePayin, wireSubscription } from './wire.ts'

const Plan = idText(120, 'A plan, by its id')
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
  named('PayinRequest', 'What to pay for (a subscription, a plan or an amount into the balance), and how'),
)
const CheckoutBody = Type.Object(
  { plan: Plan, ...payinTerms },
  named('CheckoutRequest', 'Which plan to subscribe to, and how the first period is to be paid'),
)
const CheckoutAnswer = Type.Object(
  { subscription: SubscriptionShape, payin: PayinShape },
  named('CheckoutAnswer', 'The new subscription and the pay-in of its first period'),
)

/** `POST /user/v1/subscriptions/payin`: asks for a payment (contract section 9). */
export function createPayin(services: ModuleServices): Operation {
  return ledgerWrite({
    id: 'subscriptions.payin',
    title: 'Ask for a payment: for a subscription, a plan, or into the balance',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/payin'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    body: PayinBody,
    answer: PayinAnswer,
    example: {
      body: { amountCents: 2500, metadata: { order: '0001' } },
      answer: { payin: examples.onchainPayin },
    },
    refuses: [404],
    spends: true,
    async write(call, effect) {
      const bought = await purchase(services, effect.tx, call.caller.session.accountId, call.body)
      if (!bought.ok) return bought
      const payin = await requestPayin(services, call, effect, bought.value)
      if (!payin.ok) return payin
      return allow({ data: { payin: wirePayin(payin.value) }, summary: 'The pay-in awaits its payment.' })
    },
  })
}

/** `POST /user/v1/subscriptions/checkout`: a subscription to a plan, and the pay-in for its first period. */
export function checkout(services: ModuleServices): Operation {
  const { clock, plans, subscriptions } = services
  return ledgerWrite({
    id: 'subscriptions.checkout',
    title: 'Subscribe to a plan: makes the subscription and its first pay-in',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/checkout'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    body: CheckoutBody,
    answer: CheckoutAnswer,
    example: {
      body: { plan: 'basic' },
      answer: { subscription: examples.subscription, payin: examples.subscriptionPayin },
    },
    spends: true,
    async write(call, effect) {
      const plan = plans.find(({ id }) => id === call.body.plan)
      if (!plan) return noSuchPlan(plans)
      const { tx, effectId } = effect
      const now = clock.now()
      const { accountId } = call.caller.session
      const subscription = await subscriptions.insert(tx, effectId, accountId, plan, now)
      const { id, planId, amountCents } = subscription
      const payin = await requestPayin(services, call, effect, { amountCents, planId, subscriptionId: id })
      if (!payin.ok) return payin
      return allow({
        data: { subscription: wireSubscription(subscription, now), payin: wirePayin(payin.value) },
        summary: 'The subscription starts when its pay-in is settled.',
      })
    },
  })
}

/** What a pay-in request pays for, and the price: the subscription's or the plan's where there is one. */
async function purchase(
  { plans, subscriptions }: ModuleServices,
  tx: SqlQueries,
  accountId: string,
  { subscriptionId, plan: planName, amountCents, method }: Static<typeof PayinBody>,
): Promise<Verdict<Purchase, HostDenial>> {
  if (subscriptionId !== undefined) {
    const found = await subscriptions.find(tx, accountId, subscriptionId)
    if (!found) return deny('not_found', 'no such subscription', { field: 'subscriptionId' })
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

function noSuchPlan(plans: ModuleServices['plans']): HostDenial {
  const names = plans.map(({ id }) => id).join(', ')
  return deny('invalid_request', `plan must be one of the configured plans: ${names || 'there are none'}`, {
    field: 'plan',
  })
}
