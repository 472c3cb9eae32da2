import * as Type from 'typebox/type'
import { component } from '@gatewright/host/schemas'
import { type HostServices, type Operation, ledgerWrite } from '@gatewright/host'
import * as examples from './examples.ts'
import { PayinResponse } from './fields.ts'
import { denyPayin, lockPayin, payinSuccess } from './lock-payin.ts'
import type { PayinSettlement } from '../payins/settlement.ts'

/** What the simulated payment of a pay-in works with. */
interface SimulatePaymentServices extends Pick<HostServices, 'clock' | 'environment'> {
  readonly settlement: PayinSettlement
}

const Body = Type.Object({}, component('SimulatedPayinPayment', 'No members'))

/**
 * `POST /user/v1/sandbox/payins/{payinId}/settle`: settles a pay-in with play money, as if its transfer had arrived on a chain. A pay-in
 * that is settled already is unchanged. A live host does not have this operation.
 */
export function simulatePayment({ clock, environment, settlement }: SimulatePaymentServices): Operation[] {
  if (environment !== 'sandbox') return []
  return [
    ledgerWrite({
      id: 'subscriptions.simulatePayment',
      title: 'Settle a pay-in',
      details: 'Pays it with play money, as if its transfer had arrived on a chain.',
      surface: 'user',
      method: 'POST',
      paths: ['/user/v1/sandbox/payins/{payinId}/settle'],
      credential: 'session',
      scopes: ['subscriptions.write'],
      body: Body,
      response: PayinResponse,
      example: { body: {}, response: { payin: { ...examples.onchainPayin, status: 'settled' } } },
      denies: [404],
      // No money leaves an account: the payment comes from outside.
      spends: false,
      async write({ caller, params }, { tx }) {
        const now = clock.now()
        const locked = await lockPayin(tx, caller.session.accountId, params['payinId'] as string)
        if (!locked.ok) return locked
        const payin = locked.value
        if (payin.status === 'settled') return payinSuccess(payin)
        // The transfer of a test network would find the pay-in paid.
        if (payin.seen) return denyPayin('has a transfer that is confirming: wait until it settles')
        if (now >= payin.expiresAt) return denyPayin('has expired: ask for a new one')
        return payinSuccess(await settlement.settleWithPlayMoney(tx, payin, now))
      },
    }),
  ]
}
