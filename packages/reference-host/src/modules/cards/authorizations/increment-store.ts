import type { SqlQueries } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import {
  type Row,
  instant,
  integer,
  json,
  nullable,
  oneOf,
  position,
  table,
  text,
  words,
} from '@gatewright/host/tables'
import { objectsOfAnyAccount } from '../../../product/provider-objects.ts'
import type { Authorization } from './store.ts'
import type { IncrementDeclineReason } from './states.ts'

/** Amounts by which card networks asked to raise authorizations. Lock the authorization before any use but `find`. */
export const incrementTable = table('gw_authorization_increments', {
  id: text,
  position,
  authorizationId: text,
  accountId: text,
  cardId: text,
  amountCents: integer,
  currency: text,
  /** The part that counts for the limit of the card: the whole amount while it is held, then what cleared of it. */
  countedCents: integer,
  /** Null: it was approved. */
  declineReason: nullable(oneOf<IncrementDeclineReason>()),
  /** The member of the policy that declined it. */
  declineRule: nullable(text),
  /** The hold under the caps of the card; null if it was declined. */
  hold: nullable(json<SpendHold>()),
  createdAt: instant,
  /** The attempts of a card network whose response may have been `approved`, as for an authorization. */
  attempts: words,
})
/** Increments by the id alone. */
export const anyIncrement = objectsOfAnyAccount('increment', incrementTable)
export type Increment = Row<typeof incrementTable>

/** Returns the approved increments of an authorization in the order in which they were made. */
export function approvedIncrements(
  tx: SqlQueries,
  { accountId, id }: Pick<Authorization, 'accountId' | 'id'>,
): Promise<readonly Increment[]> {
  const conditions =
    'where account_id = $1 and authorization_id = $2 and decline_reason is null order by position'
  return incrementTable.select(tx, conditions, [accountId, id])
}
