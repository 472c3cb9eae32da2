import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component } from '@gatewright/host/schemas'
import { type HostServices, type Operation, events, ledgerWrite } from '@gatewright/host'
import { deny } from '../../../product/denials.ts'
import { LATER } from '../../examples.ts'
import * as examples from './examples.ts'
import { SubscriptionSchema, subscriptionData } from './fields.ts'
import { subscriptions } from '../subscription-store.ts'

const ResponseData = Type.Object(
  { subscription: SubscriptionSchema },
  component('SubscriptionResponse', 'A subscription'),
)

/** `POST /user/v1/subscriptions/{id}/cancel`: ends a subscription after the paid time. Nothing is refunded. */
export function cancelSubscription({ clock }: Pick<HostServices, 'clock'>): Operation {
  return ledgerWrite({
    id: 'subscriptions.cancel',
    title: 'Cancel a subscription',
    details: 'There is no further period.',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/{id}/cancel'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    idempotency: 'optional',
    spends: false,
    response: ResponseData,
    example: { response: { subscription: { ...examples.subscription, canceledAt: LATER } } },
    denies: [404],
    async write({ caller, params }, { tx }) {
      const { accountId } = caller.session
      const now = clock.now()
      const found = await subscriptions.lock(tx, accountId, params['id'] as string)
      if (!found) return deny('not_found', 'no such subscription')
      const subscription = found.canceledAt === null ? await subscriptions.cancel(tx, found, now) : found
      if (found.canceledAt === null) {
        const subject = { kind: 'subscription', id: found.id }
        await events.record(tx, { accountId, subject, to: 'canceled', cause: 'canceled' }, now)
      }
      return allow({
        data: { subscription: subscriptionData(subscription, now) },
        summary: 'The subscription is canceled. What is paid stays paid.',
      })
    },
  })
}
