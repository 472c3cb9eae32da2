import { hash } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { component, idText, text, textOrNull } from '@gatewright/host/schemas'
import { applyKept, type AppliedEvent } from '@gatewright/host/internal'
import type { EventOutcome, EventType } from '@gatewright/host'
import { MerchantText, shownText, UNNAMED } from './merchant-text.ts'
import { movements, type MovementKind, type MovementTerms } from './movements.ts'
import { decideIncrementInTime } from './network-increment.ts'
import { decideInTime, type NetworkServices } from './network-request.ts'
import { anyAuthorization, lockAuthorizationId, type Authorization } from './store.ts'

/** US cents. 0: an account check, and a clearing that gives the hold back. */
const Amount = Type.Integer({ minimum: 0, maximum: 100_000_000 })
const Money = { ...Amount, minimum: 1 }
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
    name: MerchantText,
    mcc: Type.String({ pattern: '^\\d{4}$' }),
    city: MerchantText,
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
  amountCents: Money,
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
/** The members of events about the money of an authorization. */
const OfAuthorization = {
  /** The network's id of the authorization. */
  id: idText(),
  /** The card, if the network names it: another card than that of the authorization is a conflict. */
  cardId: Type.Optional(idText()),
}
const Clearing = Type.Object({
  ...OfAuthorization,
  /** The network's id of this clearing. Default: the id of the message. */
  clearingId: Type.Optional(idText()),
  amountCents: Amount,
  /** False: further clearings may follow. Default true: the rest of the hold is returned. */
  final: Type.Optional(Type.Boolean()),
})
const Reversal = Type.Object({
  ...OfAuthorization,
  reversalId: Type.Optional(idText()),
  /** The part to return. Default: all that is held. */
  amountCents: Type.Optional(Money),
})
const Refund = Type.Object({ ...OfAuthorization, refundId: Type.Optional(idText()), amountCents: Money })

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

/** How one kind of movement is taken. */
interface Movement<S extends Type.TObject> {
  readonly kind: MovementKind
  readonly data: S
  moneyId(data: Type.Static<S>): string | undefined
  terms(data: Type.Static<S>): MovementTerms
  apply(
    tx: SqlQueries,
    row: Authorization,
    data: Type.Static<S> & { readonly moneyId: string },
    now: EpochMs,
  ): Promise<Authorization>
}

/** The events about the money of an authorization: each movement is taken once, by the id of its money. */
function movementEvents({ authorizations }: Pick<NetworkServices, 'authorizations'>) {
  const movementEvent = <S extends typeof Clearing | typeof Reversal | typeof Refund>(
    movement: Movement<S>,
  ): AppliedEvent => ({
    data: movement.data,
    moneyId: movement.moneyId,
    // An offline terminal asks for nothing before it collects, and a request can be lost on its way.
    ofUnknownObject: 'kept',
    keeps: (data: Type.Static<S>) => ({
      amountCents: data.amountCents ?? null,
      cardId: data.cardId ?? null,
      data,
    }),
    async apply(tx, data: Type.Static<S>, { provider, now, moneyId }): Promise<EventOutcome> {
      const row = await lockOrReserve(tx, authorizationId(provider, data.id))
      if (!row) return 'unknown'
      if (data.cardId !== undefined && data.cardId !== row.cardId) return 'conflict'
      const name = { kind: movement.kind, id: moneyId }
      const terms = movement.terms(data)
      const known = await movements.compare(tx, row, name, terms)
      if (known !== 'new') return known
      const mayStillClear = row.status === 'authorized' && row.clearedCents === 0
      if (movement.kind === 'refund' && mayStillClear) return 'early'
      const changed = await movement.apply(tx, row, { ...data, moneyId }, now)
      const amountCents = terms.amountCents ?? row.heldCents - changed.heldCents
      await movements.add(tx, row, name, { terms, amountCents, now })
      // `clear`, `reverse` and `refund` return the same row object if they change nothing.
      if (changed === row) return 'ignored'
      if (movement.kind === 'clearing') await applyKept(tx, { provider, objectId: data.id }, all, now)
      return 'applied'
    },
  })
  const all: Readonly<Record<string, AppliedEvent>> = {
    'authorization.cleared': movementEvent({
      kind: 'clearing',
      data: Clearing,
      moneyId: ({ clearingId }) => clearingId,
      terms: ({ amountCents, final = true }) => ({ amountCents, final }),
      apply: (tx, row, { moneyId: id, amountCents, final = true }, now) =>
        authorizations.clear(tx, row, { id, amountCents, final }, now),
    }),
    'authorization.reversed': movementEvent({
      kind: 'reversal',
      data: Reversal,
      moneyId: ({ reversalId }) => reversalId,
      terms: ({ amountCents = null }) => ({ amountCents, final: true }),
      apply: (tx, row, { moneyId: id, amountCents }, now) =>
        authorizations.reverse(tx, row, { cause: 'reversed', id, amountCents }, now),
    }),
    'authorization.refunded': movementEvent({
      kind: 'refund',
      data: Refund,
      moneyId: ({ refundId }) => refundId,
      terms: ({ amountCents }) => ({ amountCents, final: true }),
      apply: (tx, row, { moneyId: id, amountCents }, now) =>
        authorizations.refund(tx, row, { id, amountCents }, now),
    }),
  }
  return all
}

/**
 * Locks an authorization. If it is unknown, its id is locked instead: a request that is being decided at the same time then either is
 * found here, or finds the event that is kept.
 */
async function lockOrReserve(tx: SqlQueries, id: string): Promise<Authorization | undefined> {
  const known = await anyAuthorization.lock(tx, id)
  if (known) return known
  await lockAuthorizationId(tx, id)
  return anyAuthorization.lock(tx, id)
}

/**
 * The events `authorization.*` of card networks. An authorization of another provider is unknown, because its id is derived from the
 * provider's name.
 */
export function authorizationEvents(
  services: Omit<NetworkServices, 'applyKept'>,
): Readonly<Record<string, EventType>> {
  const { db, cardKeyPolicies, authorizations, report } = services
  const moving = movementEvents(services)
  const network: NetworkServices = {
    db,
    cardKeyPolicies,
    authorizations,
    report,
    applyKept: (tx, object, now) => applyKept(tx, object, moving, now),
  }
  return {
    ...moving,
    'authorization.request': {
      data: Request,
      decision: Decision,
      decide(provider, { id: networkId, declineReason, ...data }: NetworkRequest, now) {
        const { name, city, ...merchant } = data.merchant
        return decideInTime(network, {
          ...data,
          provider,
          now,
          networkId,
          id: authorizationId(provider, networkId),
          issuerReason: declineReason,
          merchant: { ...merchant, name: shownText(name) ?? UNNAMED, city: shownText(city) },
        })
      },
    },
    'authorization.increment': {
      data: Increment,
      decision: Decision,
      decide(
        provider,
        { id, incrementId: networkId, declineReason, amountCents, currency }: NetworkIncrement,
        now,
      ) {
        return decideIncrementInTime(network, {
          authorizationId: authorizationId(provider, id),
          id: incrementId(provider, networkId),
          amountCents,
          currency,
          issuerReason: declineReason,
          now,
        })
      },
    },
  }
}
