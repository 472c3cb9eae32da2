import * as Type from 'typebox/type'
import { component } from '@gatewright/host/schemas'
import { type HostServices, type Operation, ledgerWrite } from '@gatewright/host'
import * as examples from './examples.ts'
import { PayinResponse } from './fields.ts'
import { denyPayin, lockPayin, PayinId, payinSuccess } from './lock-payin.ts'
import { subscriptions } from '../subscription-store.ts'
import type { PayinSettlement } from '../payins/settlement.ts'
import { payinPayee } from '../../../product/payees.ts'

/** What the payment of a pay-in from the balance works with. */
interface ConfirmBalanceServices extends Pick<HostServices, 'clock'> {
  readonly settlement: PayinSettlement
}

const Body = Type.Object(
  { payinId: PayinId },
  component('PayFromBalanceRequest', 'Which pay-in to pay from the balance'),
)

/**
 * `POST /user/v1/subscriptions/payin/confirm-balance`: pays a pay-in from the account's balance. It does not require an
 * identity check, but a locked account is denied.
 */
export function confirmBalance(services: ConfirmBalanceServices): Operation {
  const { clock, settlement } = services
  return ledgerWrite({
    id: 'subscriptions.confirmBalance',
    title: 'Pay a pay-in from the balance',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/payin/confirm-balance'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    body: Body,
    response: PayinResponse,
    example: {
      body: { payinId: examples.subscriptionPayin.id },
      response: { payin: { ...examples.subscriptionPayin, status: 'settled', method: 'balance' } },
    },
    denies: [404],
    spends: 'spend',
    requires: 'unlocked',
    async write({ caller, body }, { tx, reserve, spendsNothing }) {
      const now = clock.now()
      const payin = await lockPayin(tx, caller.session.accountId, body.payinId)
      if (!payin.ok) return payin
      const { status, planId, subscriptionId, expiresAt, amountCents, currency, operation } = payin.value
      if (status === 'settled') {
        spendsNothing()
        return payinSuccess(payin.value)
      }
      if (planId === null) return denyPayin('fills the balance: it cannot be paid from it')
      if (status === 'confirming') return denyPayin('has a payment under way')
      if (now >= expiresAt) return denyPayin('has expired: ask for a new one')
      const { accountId, keyId } = caller.session
      const subscription =
        subscriptionId === null ? null : await subscriptions.findForPayin(tx, accountId, subscriptionId)
      if (subscription && subscription.canceledAt !== null) return denyPayin('is for a canceled subscription')
      const payee = payinPayee(accountId, planId)
      const spend = { amountCents, currency, payee, countsAs: [operation], isSpent: true }
      const payer = { keyId, reserve: () => reserve(spend) }
      const paid = await settlement.payFromBalance(tx, payin.value, payer, now)
      return paid.ok ? payinSuccess(paid.value) : paid
    },
  })
}
