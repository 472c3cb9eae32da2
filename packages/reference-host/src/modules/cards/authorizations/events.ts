import { hash } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { compileSchema } from '../../../schemas/check.ts'
import { idText, nameText } from '../../../schemas/names.ts'
import type { EventOutcome, EventType } from '../../system/provider-events.ts'
import { decideIncrementInTime, type NetworkIncrementServices } from './network-increment.ts'
import { decideInTime } from './network-request.ts'
import type { Authorization } from './store.ts'

const Amount = Type.Integer({ minimum: 1, maximum: 100_000_000 })
const Currency = Type.String({ pattern: '^[A-Z]{3}$' })
/** Why the issuer itself declines it. */
const IssuerReason = Type.Optional(Type.Enum(['suspected_fraud', 'merchant_blocked']))
const Request = Type.Object({
  /** The network's id of the authorization. */
  id: idText(),
  cardId: idText(),
  amountCents: Amount,
  currency: Currency,
  merchant: Type.Object({
    name: nameText(1, 40),
    mcc: Type.String({ pattern: '^\\d{4}$' }),
    city: Type.Optional(Type.Union([nameText(1, 40), Type.Null()])),
    country: Type.String({ pattern: '^[A-Z]{2}$' }),
  }),
  declineReason: IssuerReason,
})
const Increment = Type.Object({
  /** The network's id of the authorization. */
  id: idText(),
  /** The network's id of the increment: of one provider, no two increments have one id. */
  incrementId: idText(),
  /** What is added to the amount of the authorization. */
  amountCents: Amount,
  currency: Currency,
  declineReason: IssuerReason,
})
type NetworkRequest = Type.Static<typeof Request>
type NetworkIncrement = Type.Static<typeof Increment>
const Reversal = Type.Object({ id: idText() })
const Movement = Type.Object({ id: idText(), amountCents: Amount })

/** Our id of an authorization: one for each id of each provider. */
function authorizationId(provider: string, networkId: string): string {
  return `auth_${hash('sha256', JSON.stringify([provider, networkId])).slice(0, 32)}`
}

/** Our id of an increment: one for each id of each provider, whatever authorization it names. */
function incrementId(provider: string, networkId: string): string {
  return `inc_${hash('sha256', JSON.stringify([provider, networkId])).slice(0, 32)}`
}

/** The events `authorization.*` of card networks. */
export function authorizationEvents(services: NetworkIncrementServices): Readonly<Record<string, EventType>> {
  const { authorizations, store } = services
  /** An event about an authorization that exists. Another provider's is unknown, because the id is made of its name, too. */
  const later = (
    schema: typeof Movement | typeof Reversal,
    apply: (
      tx: SqlQueries,
      row: Authorization,
      data: never,
      at: { now: EpochMs; messageId: string },
    ) => Promise<Authorization>,
  ): EventType => ({
    problem: compileSchema(schema),
    async apply(tx, provider, data: { readonly id: string }, now, messageId): Promise<EventOutcome> {
      const row = await store.lockById(tx, authorizationId(provider, data.id))
      if (!row) return 'unknown'
      const changed = await apply(tx, row, data as never, { now, messageId })
      return changed === row ? 'ignored' : 'applied'
    },
  })
  type MovementData = Type.Static<typeof Movement>
  return {
    'authorization.request': {
      problem: compileSchema(Request),
      decide(provider, { id: networkId, declineReason, ...data }: NetworkRequest, now) {
        const { merchant } = data
        return decideInTime(services, {
          ...data,
          provider,
          now,
          id: authorizationId(provider, networkId),
          issuerReason: declineReason,
          merchant: { ...merchant, city: merchant.city ?? null },
        })
      },
    },
    'authorization.increment': {
      problem: compileSchema(Increment),
      decide(
        provider,
        { id, incrementId: networkId, declineReason, amountCents, currency }: NetworkIncrement,
        now,
      ) {
        return decideIncrementInTime(services, {
          authorizationId: authorizationId(provider, id),
          id: incrementId(provider, networkId),
          amountCents,
          currency,
          issuerReason: declineReason,
          now,
        })
      },
    },
    'authorization.cleared': later(Movement, (tx, row, { amountCents }: MovementData, { now }) =>
      authorizations.clear(tx, row, amountCents, now),
    ),
    'authorization.reversed': later(Reversal, (tx, row, _, { now }) =>
      authorizations.reverse(tx, row, 'reversed', now),
    ),
    'authorization.refunded': later(
      Movement,
      (tx, row, { amountCents }: MovementData, { now, messageId: id }) =>
        authorizations.refund(tx, row, { id, amountCents }, now),
    ),
  }
}
