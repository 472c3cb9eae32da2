import { hash } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { component, idText, nameText, text } from '@gatewright/host/schemas'
import { compileSchema, textOrNull } from '@gatewright/host/internal'
import type { EventOutcome, EventType } from '@gatewright/host/internal'
import { decideIncrementInTime, type NetworkIncrementServices } from './network-increment.ts'
import { decideInTime } from './network-request.ts'
import { anyAuthorization, type Authorization } from './store.ts'

const Amount = Type.Integer({ minimum: 1, maximum: 100_000_000 })
const Currency = Type.String({ pattern: '^[A-Z]{3}$' })
/** Set if the card issuer declines the request itself; this host then declines it with the same reason. */
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
  /** The network's id of the increment, unique per provider. */
  incrementId: idText(),
  /** The amount to add to that of the authorization. */
  amountCents: Amount,
  currency: Currency,
  declineReason: IssuerReason,
})
/** What the card network gets: see `decideInTime`. */
const Decision = Type.Object(
  {
    approved: Type.Boolean(),
    authorizationId: text('The id of the authorization, also of a declined one'),
    declineReason: textOrNull('Null if it is approved'),
  },
  component('AuthorizationDecision', 'The decision about a payment by card'),
)
type NetworkRequest = Type.Static<typeof Request>
type NetworkIncrement = Type.Static<typeof Increment>
const Reversal = Type.Object({ id: idText() })
const Movement = Type.Object({ id: idText(), amountCents: Amount })

/** Derives the host's id of an authorization from the provider's name and the provider's id. */
function authorizationId(provider: string, networkId: string): string {
  return `auth_${hash('sha256', JSON.stringify([provider, networkId])).slice(0, 32)}`
}

/**
 * Derives the host's id of an increment from the provider's name and the provider's id only: one increment id under two
 * authorizations of a provider is the same increment.
 */
function incrementId(provider: string, networkId: string): string {
  return `inc_${hash('sha256', JSON.stringify([provider, networkId])).slice(0, 32)}`
}

/** The events `authorization.*` of card networks. */
export function authorizationEvents(services: NetworkIncrementServices): Readonly<Record<string, EventType>> {
  const { authorizations } = services
  /**
   * Makes an event about an existing authorization. An authorization of another provider is unknown, because its id is derived
   * from the provider's name.
   */
  const eventOnExisting = <S extends typeof Movement | typeof Reversal>(
    schema: S,
    change: (
      tx: SqlQueries,
      row: Authorization,
      data: Type.Static<S>,
      at: { now: EpochMs; messageId: string },
    ) => Promise<Authorization>,
  ): EventType => ({
    validate: compileSchema(schema),
    async apply(tx, provider, data: Type.Static<S>, now, messageId): Promise<EventOutcome> {
      const row = await anyAuthorization.lock(tx, authorizationId(provider, data.id))
      if (!row) return 'unknown'
      const changed = await change(tx, row, data, { now, messageId })
      // `clear`, `reverse` and `refund` return the same row object if they change nothing.
      return changed === row ? 'ignored' : 'applied'
    },
  })
  return {
    'authorization.request': {
      validate: compileSchema(Request),
      decision: Decision,
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
      validate: compileSchema(Increment),
      decision: Decision,
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
    'authorization.cleared': eventOnExisting(Movement, (tx, row, { amountCents }, { now }) =>
      authorizations.clear(tx, row, amountCents, now),
    ),
    'authorization.reversed': eventOnExisting(Reversal, (tx, row, _, { now }) =>
      authorizations.reverse(tx, row, 'reversed', now),
    ),
    'authorization.refunded': eventOnExisting(Movement, (tx, row, { amountCents }, { now, messageId: id }) =>
      authorizations.refund(tx, row, { id, amountCents }, now),
    ),
  }
}
