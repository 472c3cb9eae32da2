import { allow, type Verdict } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { deny, type HostDenial } from '../../server/codes.ts'
import { ledgerWrite, type Operation, type Success } from '../../server/operation.ts'
import { idText } from '../../schemas/text.ts'
import type { ModuleServices } from '../services.ts'
import { named } from '../shapes.ts'
import * as examples from './examples.ts'
import type { Payin } from './payin.ts'
import { isOpen } from './states.ts'
import { PayinAnswer, wirePayin } from './wire.ts'

/** The pay-in that a request names. */
export const PayinId: Type.TString = idText(120, 'The pay-in, by its id')

const Body = Type.Object(
  { payinId: PayinId },
  named('PayFromBalanceRequest', 'Which pay-in the balance is to pay'),
)

/** `POST /user/v1/subscriptions/payin/confirm-balance`: pays a pay-in from the account's balance. */
export function confirmBalance({ clock, payins, endings }: ModuleServices): Operation {
  return ledgerWrite({
    id: 'subscriptions.confirmBalance',
    title: 'Pay a pay-in from the balance',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/payin/confirm-balance'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    body: Body,
    answer: PayinAnswer,
    example: {
      body: { payinId: examples.subscriptionPayin.id },
      answer: { payin: { ...examples.subscriptionPayin, status: 'settled', method: 'balance' } },
    },
    refuses: [404],
    spends: true,
    async write({ caller, body }, { tx, reserve }) {
      const now = clock.now()
      const payin = await lockedPayin(payins, tx, caller.session.accountId, body.payinId)
      if (!payin.ok) return payin
      const { status, planId, expiresAt, amountCents, currency, operation } = payin.value
      if (status === 'settled') return answered(payin.value)
      if (planId === null) return refused('fills the balance: it cannot be paid from it')
      if (status === 'confirming') return refused('has a payment under way')
      if (now >= expiresAt) return refused('has expired: ask for a new one')
      const spend = { amountCents, currency, countsAs: [operation] }
      const paid = await endings.paidFromBalance(tx, payin.value, () => reserve(spend), now)
      return paid.ok ? answered(paid.value) : paid
    },
  })
}

/** The caller's pay-in, locked, if it is settled or can still be. Denials: `not_found`, `invalid_request`. */
export async function lockedPayin(
  payins: ModuleServices['payins'],
  tx: SqlQueries,
  accountId: string,
  id: string,
): Promise<Verdict<Payin, HostDenial>> {
  const payin = await payins.lock(tx, id, accountId)
  // Another account's pay-in is no more there than one that never was.
  if (!payin) return deny('not_found', 'no such pay-in', { field: 'payinId' })
  const { status } = payin
  if (status === 'settled' || isOpen(status)) return allow(payin)
  return refused(`is ${status}: ask for a new one`)
}

/** A pay-in that cannot be paid in this way. */
export function refused(why: string): HostDenial {
  return deny('invalid_request', `this pay-in ${why}`, { field: 'payinId' })
}

/** The pay-in as it stands now. */
export function answered(payin: Payin): Verdict<Success> {
  const summary =
    payin.status === 'settled' ? 'The pay-in is settled.' : 'The pay-in settles once its chain confirms it.'
  return allow({ data: { payin: wirePayin(payin) }, summary })
}
