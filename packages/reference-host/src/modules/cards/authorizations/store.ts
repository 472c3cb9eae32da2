import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { DEFAULT_PREFIX, lockName, toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import {
  type Row,
  defaulted,
  instant,
  integer,
  json,
  named,
  nullable,
  oneOf,
  position,
  table,
  text,
  words,
} from '@gatewright/host/tables'
import type { Merchant } from '@gatewright/host'
import { objectsOfAnyAccount } from '../../../product/provider-objects.ts'
import type { AuthorizationStatus, DeclineReason } from './states.ts'

/**
 * Why the operator must look at an authorization: its provider reported more money than could be moved, or repeated an id with another
 * amount, currency or card.
 */
export type Attention =
  | 'cleared_beyond_hold'
  | 'reversed_beyond_hold'
  | 'refunded_beyond_cleared'
  | 'request_conflict'

/** The payments by card of all accounts: authorized or declined, then cleared or reversed, then refunded. */
export const authorizationTable = table('gw_authorizations', {
  id: text,
  position,
  accountId: text,
  cardId: text,
  /** The name of the provider that issued the card. */
  issuer: text,
  status: oneOf<AuthorizationStatus>(),
  /** The requested amount, approved increments included. 0: an account check. */
  amountCents: integer,
  /** The part of `amountCents` from approved increments. */
  incrementedCents: defaulted(integer),
  /** What is held now. Each increment raises it; each clearing, and each reversal of a part, reduces it. */
  heldCents: integer,
  clearedCents: defaulted(integer),
  refundedCents: defaulted(integer),
  /** Money that the provider reported beyond the hold, or beyond what cleared. It was not moved: the operator books it. */
  excessCents: defaulted(integer),
  attention: nullable(oneOf<Attention>()),
  currency: text,
  merchant: json<Merchant>(),
  declineReason: nullable(oneOf<DeclineReason>()),
  /** The member of the policy that declined it. */
  declineRule: nullable(text),
  /** The hold under the caps of the card; null if it was declined. Increments have their own. */
  hold: nullable(json<SpendHold>()),
  createdAt: instant,
  /**
   * The attempts of a card network whose response may have been `approved`: the one that made the authorization, and repeats.
   * An attempt that ended too late is removed. Empty if the API made it.
   */
  attempts: named('attempt', words),
})
/** Authorizations by the id alone. */
export const anyAuthorization = objectsOfAnyAccount('authorization', authorizationTable)
/** A stored authorization. A new one has no position yet. */
export type Authorization = Omit<Row<typeof authorizationTable>, 'position'>

/** The members of an authorization that can change. */
export type AuthorizationChanges = Partial<
  Pick<
    Authorization,
    | 'status'
    | 'amountCents'
    | 'incrementedCents'
    | 'heldCents'
    | 'clearedCents'
    | 'refundedCents'
    | 'excessCents'
    | 'attention'
    | 'declineReason'
  >
>

/** Adds up per card. Cards are the parameters from `$3` on. */
const counted = (cards: string): string => `select card_id, sum(cents) as cents from (
    select card_id, held_cents + cleared_cents as cents
      from gw_authorizations where account_id = $1 and created_at > $2 and card_id in (${cards})
    union all
    select i.card_id, i.counted_cents from gw_authorization_increments i
      join gw_authorizations a on a.account_id = $1 and a.id = i.authorization_id
      where i.account_id = $1 and i.created_at > $2 and a.created_at <= $2 and i.card_id in (${cards})
  ) counted group by card_id`

/**
 * Locks the id of an authorization until the transaction ends. Call it before any other lock, so that simultaneous requests
 * with one id are decided one after the other, whichever card or authorization they name.
 */
export async function lockAuthorizationId(tx: SqlQueries, id: string): Promise<void> {
  await lockName(tx, DEFAULT_PREFIX, { kind: 'authorization', id })
}

/**
 * Adds up the held and cleared amounts of each card's authorizations that were made after `since`, and of increments that were
 * made after `since` to older ones. A card without any is absent. To decide, lock the card before: two simultaneous authorizations would
 * each miss the other.
 */
export async function countedCents(
  db: SqlQueries,
  accountId: string,
  cardIds: readonly string[],
  since: EpochMs,
): Promise<ReadonlyMap<string, number>> {
  const places = cardIds.map((_, index) => `$${index + 3}`).join(', ')
  const found = await rows(db, counted(places), [accountId, since, ...cardIds])
  return new Map(found.map(row => [toText(row['card_id']), toInteger(row['cents'])]))
}
