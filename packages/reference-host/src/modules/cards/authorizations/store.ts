import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, type SqlQueries } from '@gatewright/kernel/sql'
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
import type { AuthorizationStatus, DeclineReason } from './states.ts'

/**
 * Why the operator must look at an authorization: its provider reported more money than could be moved, or repeated an id with another
 * amount, currency or card.
 */
export type Attention = 'cleared_beyond_hold' | 'refunded_beyond_cleared' | 'request_conflict'

/** The payments by card of all accounts: authorized or declined, then cleared or reversed, then refunded. */
export const authorizationTable = table('gw_authorizations', {
  id: text,
  position,
  accountId: text,
  cardId: text,
  /** The name of the provider that issued the card. */
  issuer: text,
  status: oneOf<AuthorizationStatus>(),
  /** What the merchant asked for, with the increments that were approved. */
  amountCents: integer,
  /** The approved increments of `amountCents`. */
  incrementedCents: defaulted(integer),
  clearedCents: defaulted(integer),
  refundedCents: defaulted(integer),
  /** What the provider reported beyond the hold or beyond what cleared. It moved nothing: the operator books it. */
  excessCents: defaulted(integer),
  attention: nullable(oneOf<Attention>()),
  currency: text,
  merchant: json<Merchant>(),
  declineReason: nullable(oneOf<DeclineReason>()),
  /** The member of the policy that declined it. */
  declineRule: nullable(text),
  /** What counts against the caps of the card, without increments, which have their own; null for a declined one. */
  hold: nullable(json<SpendHold>()),
  createdAt: instant,
  /**
   * The requests of a card network whose response may have said approved: that which made it, and its repeats. One that came too
   * late is taken out. Empty if the API made it.
   */
  attempts: named('attempt', words),
})
/** A payment by card. */
export type Authorization = Row<typeof authorizationTable>

/** What changes of an authorization. */
export type AuthorizationChanges = Partial<
  Pick<
    Authorization,
    | 'status'
    | 'amountCents'
    | 'incrementedCents'
    | 'clearedCents'
    | 'refundedCents'
    | 'excessCents'
    | 'attention'
    | 'declineReason'
  >
>

const COUNTED = `select
  (select coalesce(sum(case when status = 'authorized' then amount_cents else cleared_cents end), 0)
    from gw_authorizations where card_id = $1 and created_at > $2) +
  (select coalesce(sum(i.counted_cents), 0) from gw_authorization_increments i
    join gw_authorizations a on a.id = i.authorization_id
    where i.card_id = $1 and i.created_at > $2 and a.created_at <= $2) as cents`
const LOCK_ID = `select pg_advisory_xact_lock(hashtextextended('gatewright authorization ' || $1, 0))`

/**
 * Takes a lock on the id of an authorization until the transaction ends, before any other lock, so that requests at once with one id
 * are decided one after the other, whichever card or authorization each of them names.
 */
export async function lockAuthorizationId(tx: SqlQueries, id: string): Promise<void> {
  if (tx.dialect === 'postgres') await rows(tx, LOCK_ID, [id])
}

/**
 * Adds up what the authorizations of a card hold or have cleared, of those that were made after `since`, and of older ones the
 * increments that were made after `since`. Lock the card before: two authorizations at once would each miss the other.
 */
export async function countedCents(tx: SqlQueries, cardId: string, since: EpochMs): Promise<number> {
  const [row] = await rows(tx, COUNTED, [cardId, since])
  return toInteger(row?.['cents'])
}
