import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
  type SqlValue,
} from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import type { Merchant } from '../../../ledger/transactions.ts'
import { ownedRows, type OwnedRows } from '../../../records/owned-rows.ts'
import type { AuthorizationStatus, DeclineReason } from './states.ts'

/**
 * Why the operator must look at an authorization: its provider reported more money than could be moved, or repeated an id with another
 * amount, currency or card.
 */
export type Attention = 'cleared_beyond_hold' | 'refunded_beyond_cleared' | 'request_conflict'

/** A payment by card: authorized or declined, then cleared or reversed, then refunded. */
export interface Authorization {
  readonly id: string
  readonly position: number
  readonly accountId: string
  readonly cardId: string
  /** The name of the provider that issued the card. */
  readonly issuer: string
  readonly status: AuthorizationStatus
  /** What the merchant asked for, with the increments that were approved. */
  readonly amountCents: number
  /** The approved increments of `amountCents`. */
  readonly incrementedCents: number
  readonly clearedCents: number
  readonly refundedCents: number
  /** What the provider reported beyond the hold or beyond what cleared. It moved nothing: the operator books it. */
  readonly excessCents: number
  readonly attention: Attention | null
  readonly currency: string
  readonly merchant: Merchant
  readonly declineReason: DeclineReason | null
  /** The member of the policy that declined it. */
  readonly declineRule: string | null
  /** What counts against the caps of the card, without increments, which have their own; null for a declined one. */
  readonly hold: SpendHold | null
  readonly createdAt: EpochMs
  /**
   * The requests of a card network whose response may have said approved: that which made it, and its repeats. One that came too
   * late is taken out. Empty if the API made it.
   */
  readonly attempts: readonly string[]
}

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

/** The host's authorizations. */
export interface AuthorizationStore extends Pick<OwnedRows<Authorization>, 'find' | 'lock' | 'page'> {
  /** Inserts an authorization. Undefined: the id exists already, in this or another account. */
  insert(tx: SqlQueries, made: Omit<Authorization, 'position'>): Promise<Authorization | undefined>
  /** Finds an authorization of any account: for card networks. */
  findById(db: SqlQueries, id: string): Promise<Authorization | undefined>
  /** Finds and locks an authorization of any account: for card networks and the operator. */
  lockById(tx: SqlQueries, id: string): Promise<Authorization | undefined>
  /**
   * Takes a lock on an id until the transaction ends, before any other lock, so that requests at once with one id are decided one after
   * the other, whichever card or authorization each of them names.
   */
  lockId(tx: SqlQueries, id: string): Promise<void>
  /** Changes an authorization. Lock it before. */
  change(tx: SqlQueries, row: Authorization, changes: AuthorizationChanges): Promise<Authorization>
  /** Replaces the attempts of an authorization. Lock it before. */
  setAttempts(tx: SqlQueries, id: string, attempts: readonly string[]): Promise<void>
  /**
   * Adds up what the authorizations of a card hold or have cleared, of those that were made after `since`, and of older ones the
   * increments that were made after `since`. Lock the card before: two authorizations at once would each miss the other.
   */
  countedCents(tx: SqlQueries, cardId: string, since: EpochMs): Promise<number>
}

const COUNTED = `select
  (select coalesce(sum(case when status = 'authorized' then amount_cents else cleared_cents end), 0)
    from gw_authorizations where card_id = $1 and created_at > $2) +
  (select coalesce(sum(i.counted_cents), 0) from gw_authorization_increments i
    join gw_authorizations a on a.id = i.authorization_id
    where i.card_id = $1 and i.created_at > $2 and a.created_at <= $2) as cents`
const CHANGE = `update gw_authorizations set status = $2, amount_cents = $3, incremented_cents = $4, cleared_cents = $5,
  refunded_cents = $6, excess_cents = $7, attention = $8, decline_reason = $9 where id = $1`

const LOCK_ID = `select pg_advisory_xact_lock(hashtextextended('gatewright authorization ' || $1, 0))`

/** Makes the authorization store of a SQL database. */
export function authorizationStore(dialect: SqlDialect): AuthorizationStore {
  const { find, lock, page, insert } = ownedRows(dialect, 'gw_authorizations', toAuthorization)
  const byId = async (db: SqlQueries, id: string, suffix: string): Promise<Authorization | undefined> => {
    const [row] = await rows(db, `select * from gw_authorizations where id = $1${suffix}`, [id])
    return row && toAuthorization(row)
  }
  return {
    find,
    lock,
    page,
    insert: (tx, made) => insert(tx, columnsOf(made)),
    findById: (db, id) => byId(db, id, ''),
    lockById: (tx, id) => byId(tx, id, dialect === 'postgres' ? ' for update' : ''),
    async lockId(tx, id) {
      if (dialect === 'postgres') await rows(tx, LOCK_ID, [id])
    },
    async change(tx, row, changes) {
      const next = { ...row, ...changes }
      const { id, status, clearedCents, refundedCents, excessCents, attention, declineReason } = next
      const amounts = [next.amountCents, next.incrementedCents, clearedCents, refundedCents, excessCents]
      await rows(tx, CHANGE, [id, status, ...amounts, attention, declineReason])
      return next
    },
    async setAttempts(tx, id, attempts) {
      await rows(tx, 'update gw_authorizations set attempt = $2 where id = $1', [id, attempts.join(' ')])
    },
    async countedCents(tx, cardId, since) {
      const [row] = await rows(tx, COUNTED, [cardId, since])
      return toInteger(row?.['cents'])
    },
  }
}

function columnsOf(row: Omit<Authorization, 'position'>): Record<string, SqlValue> {
  return {
    id: row.id,
    account_id: row.accountId,
    card_id: row.cardId,
    issuer: row.issuer,
    status: row.status,
    amount_cents: row.amountCents,
    incremented_cents: row.incrementedCents,
    cleared_cents: row.clearedCents,
    refunded_cents: row.refundedCents,
    excess_cents: row.excessCents,
    attention: row.attention,
    currency: row.currency,
    merchant: JSON.stringify(row.merchant),
    decline_reason: row.declineReason,
    decline_rule: row.declineRule,
    hold: row.hold && JSON.stringify(row.hold),
    created_at: row.createdAt,
    attempt: row.attempts.length === 0 ? null : row.attempts.join(' '),
  }
}

function toAuthorization(row: SqlRow): Authorization {
  const orNull = (column: string): string | null => (row[column] === null ? null : toText(row[column]))
  const hold = orNull('hold')
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    cardId: toText(row['card_id']),
    issuer: toText(row['issuer']),
    status: toText(row['status']) as AuthorizationStatus,
    amountCents: toInteger(row['amount_cents']),
    incrementedCents: toInteger(row['incremented_cents']),
    clearedCents: toInteger(row['cleared_cents']),
    refundedCents: toInteger(row['refunded_cents']),
    excessCents: toInteger(row['excess_cents']),
    attention: orNull('attention') as Attention | null,
    currency: toText(row['currency']),
    merchant: JSON.parse(toText(row['merchant'])) as Merchant,
    declineReason: orNull('decline_reason') as DeclineReason | null,
    declineRule: orNull('decline_rule'),
    hold: hold === null ? null : (JSON.parse(hold) as SpendHold),
    createdAt: toInteger(row['created_at']),
    attempts: (orNull('attempt') ?? '').split(' ').filter(Boolean),
  }
}
