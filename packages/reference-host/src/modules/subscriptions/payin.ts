import { allow, type Verdict } from '@gatewright/kernel'
import Type, { type Static } from 'typebox'
import { deny, type HostDenial } from '../../server/codes.ts'
import { ledgerWrite, type Operation } from '../../server/operation.ts'
import type { ModuleServices } from '../services.ts'
import type { Payin } from './store.ts'

const Body = Type.Object({
  subscriptionId: Type.Optional(Type.String({ minLength: 1, maxLength: 120 })),
  plan: Type.Optional(Type.String({ minLength: 1, maxLength: 120 })),
  amountCents: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000 })),
  currency: Type.Optional(Type.Enum(['USD'])),
  method: Type.Optional(Type.Enum(['onchain', 'balance'])),
  metadata: Type.Optional(Type.Object({})),
})
const Answer = Type.Object({
  payin: Type.Object({
    id: Type.String(),
    status: Type.Enum(['awaiting_payment', 'confirming', 'settled', 'expired', 'failed', 'canceled']),
    subscriptionId: Type.Union([Type.String(), Type.Null()]),
    amountCents: Type.Integer(),
    currency: Type.Enum(['USD']),
    method: Type.Enum(['onchain', 'balance']),
    expiresAt: Type.String({ format: 'date-time' }),
    createdAt: Type.String({ format: 'date-time' }),
  }),
})
type PayinBody = Static<typeof Body>

/** `POST /user/v1/subscriptions/payin`: asks for a payment into the caller's account (contract section 9). */
export function createPayin({ payins, clock }: ModuleServices): Operation {
  return ledgerWrite({
    id: 'subscriptions.payin',
    title: 'Ask for a payment into the account',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/subscriptions/payin'],
    credential: 'session',
    scopes: ['subscriptions.write'],
    body: Body,
    answer: Answer,
    refuses: [404],
    spends({ body }) {
      const amount = payable(body)
      if (!amount.ok) return amount
      return allow({ amountCents: amount.value, currency: 'USD' })
    },
    async write({ caller, body }, { tx, effectId, hold }) {
      const { amountCents: _amount, currency = 'USD', method = 'onchain', ...properties } = body
      const { accountId, userId } = caller.session
      const payin = {
        accountId,
        userId,
        amountCents: hold.requested.amountCents,
        currency,
        method,
        properties,
      }
      const stored = await payins.insert(tx, { effectId, hold }, payin, clock.now())
      return allow({ data: { payin: wirePayin(stored) }, summary: 'The pay-in awaits its payment.' })
    },
  })
}

/** The amount of an open pay-in. There are no plans and no subscriptions yet, so naming one finds nothing. */
function payable({ subscriptionId, plan, amountCents }: PayinBody): Verdict<number, HostDenial> {
  if (subscriptionId !== undefined) {
    return deny('not_found', 'no such subscription', { field: 'subscriptionId' })
  }
  if (plan !== undefined) return deny('invalid_request', 'plan names no configured plan', { field: 'plan' })
  if (amountCents !== undefined) return allow(amountCents)
  return deny('invalid_request', 'subscriptionId, plan or amountCents is required', { field: 'amountCents' })
}

function wirePayin(payin: Payin): Record<string, unknown> {
  const { id, status, amountCents, currency, method } = payin
  return {
    ...{ id, status, subscriptionId: null, amountCents, currency, method },
    expiresAt: new Date(payin.expiresAt).toISOString(),
    createdAt: new Date(payin.createdAt).toISOString(),
  }
}
