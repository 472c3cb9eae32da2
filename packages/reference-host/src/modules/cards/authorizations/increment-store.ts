import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import type { IncrementDeclineReason } from './states.ts'

/** An amount by which a card network asked to raise an authorization. */
export interface Increment {
  readonly id: string
  readonly authorizationId: string
  readonly accountId: string
  readonly cardId: string
  readonly amountCents: number
  readonly currency: string
  /** What it counts for the limit of the card: all of it while it is held, then what cleared of it. */
  readonly countedCents: number
  /** Null: it was approved. */
  readonly declineReason: IncrementDeclineReason | null
  /** The member of the policy that declined it. */
  readonly declineRule: string | null
  /** What counts against the caps of the card; null for a declined one. */
  readonly hold: SpendHold | null
  readonly createdAt: EpochMs
  /** The requests of a card network whose response may have said approved, as of an authorization. */
  readonly attempts: readonly string[]
}

/** What changes of an increment. */
type IncrementChanges = Partial<Pick<Increment, 'countedCents' | 'declineReason' | 'attempts'>>

/** The increments of authorizations. Each function needs the lock of the authorization, but for `find`. */
export interface IncrementStore {
  find(db: SqlQueries, id: string): Promise<Increment | undefined>
  /** Returns the approved increments of an authorization in the order in which they were made. */
  approved(tx: SqlQueries, authorizationId: string): Promise<readonly Increment[]>
  insert(tx: SqlQueries, made: Increment): Promise<void>
  change(tx: SqlQueries, increment: Increment, changes: IncrementChanges): Promise<void>
}

const TABLE = 'gw_authorization_increments'
const INSERT = `insert into ${TABLE} (account_id, id, authorization_id, card_id, amount_cents, currency, counted_cents,
  decline_reason, decline_rule, hold, created_at, attempts) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

/** The increment store of a SQL database. */
export const incrementStore: IncrementStore = {
  async find(db, id) {
    const [row] = await rows(db, `select * from ${TABLE} where id = $1`, [id])
    return row && toIncrement(row)
  },
  async approved(tx, authorizationId) {
    const text = `select * from ${TABLE} where authorization_id = $1 and decline_reason is null order by position`
    return (await rows(tx, text, [authorizationId])).map(toIncrement)
  },
  async insert(tx, made) {
    await rows(tx, INSERT, [
      made.accountId,
      made.id,
      made.authorizationId,
      made.cardId,
      made.amountCents,
      made.currency,
      made.countedCents,
      made.declineReason,
      made.declineRule,
      made.hold && JSON.stringify(made.hold),
      made.createdAt,
      made.attempts.join(' '),
    ])
  },
  async change(tx, increment, changes) {
    const { id, countedCents, declineReason, attempts } = { ...increment, ...changes }
    const text = `update ${TABLE} set counted_cents = $2, decline_reason = $3, attempts = $4 where id = $1`
    await rows(tx, text, [id, countedCents, declineReason, attempts.join(' ')])
  },
}

function toIncrement(row: SqlRow): Increment {
  const orNull = (column: string): string | null => (row[column] === null ? null : toText(row[column]))
  const hold = orNull('hold')
  return {
    id: toText(row['id']),
    authorizationId: toText(row['authorization_id']),
    accountId: toText(row['account_id']),
    cardId: toText(row['card_id']),
    amountCents: toInteger(row['amount_cents']),
    currency: toText(row['currency']),
    countedCents: toInteger(row['counted_cents']),
    declineReason: orNull('decline_reason') as IncrementDeclineReason | null,
    declineRule: orNull('decline_rule'),
    hold: hold === null ? null : (JSON.parse(hold) as SpendHold),
    createdAt: toInteger(row['created_at']),
    attempts: toText(row['attempts']).split(' ').filter(Boolean),
  }
}
