import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import { extendTerm, termEnd, type PaidTerm, type Plan, type PlanInterval } from '../../product/plans.ts'
import { newId } from '../../records/owned-rows.ts'

/** A user's subscription. Its price is fixed at its creation. */
export interface Subscription {
  readonly id: string
  readonly position: number
  readonly accountId: string
  readonly planId: string
  readonly amountCents: number
  readonly interval: PlanInterval
  /** The paid term; undefined before the first payment. */
  readonly term: PaidTerm | undefined
  readonly createdAt: EpochMs
  /** When it was canceled: it then gets no further pay-in. */
  readonly canceledAt: EpochMs | null
}

/**
 * `incomplete`: never paid. `active`: `now` is before the end of the paid term. `past_due`: the paid term has
 * ended.
 */
type SubscriptionStatus = 'incomplete' | 'active' | 'past_due'

/** The status of a subscription at `now`. */
export function subscriptionStatus({ term }: Subscription, now: EpochMs): SubscriptionStatus {
  if (!term) return 'incomplete'
  return now < termEnd(term) ? 'active' : 'past_due'
}

/** The host's subscription records. */
export interface SubscriptionStore {
  /** Adds a subscription in the caller's transaction, one per effect: a repeat gets the existing one. */
  insert(tx: SqlQueries, effectId: string, accountId: string, plan: Plan, now: EpochMs): Promise<Subscription>
  /** Adds one paid period. Simultaneous calls each add their own. */
  extend(tx: SqlQueries, id: string, now: EpochMs): Promise<void>
  /** One subscription of an account. */
  find(db: SqlQueries, accountId: string, id: string): Promise<Subscription | undefined>
  /** The same, for a new pay-in: it cannot be canceled until the transaction ends. */
  findForPayin(tx: SqlQueries, accountId: string, id: string): Promise<Subscription | undefined>
  /** The same, locked until the transaction ends. */
  lock(tx: SqlQueries, accountId: string, id: string): Promise<Subscription | undefined>
  /** Cancels a locked subscription. */
  cancel(tx: SqlQueries, subscription: Subscription, now: EpochMs): Promise<Subscription>
  /** A page of an account's subscriptions, newest first, before `position` (0: from the newest). */
  page(db: SqlQueries, accountId: string, position: number, limit: number): Promise<readonly Subscription[]>
}

/** Creates the subscription store over SQL. */
export function subscriptionStore(dialect: SqlDialect): SubscriptionStore {
  const lock = dialect === 'postgres' ? ' for no key update' : ''
  const findOne = async (db: SqlQueries, accountId: string, id: string, locking: string) => {
    const text = `select * from gw_subscriptions where id = $1 and account_id = $2${locking}`
    const [row] = await rows(db, text, [id, accountId])
    return row && toSubscription(row)
  }
  return {
    async insert(tx, effectId, accountId, plan, now) {
      const id = newId('sub')
      const { amountCents, interval } = plan
      const [row] = await rows(
        tx,
        `insert into gw_subscriptions (id, account_id, effect_id, plan_id, amount_cents, plan_interval, created_at)
          values ($1, $2, $3, $4, $5, $6, $7)
          on conflict (effect_id) do update set effect_id = excluded.effect_id returning *`,
        [id, accountId, effectId, plan.id, amountCents, interval, now],
      )
      return toSubscription(row as SqlRow)
    },
    async extend(tx, id, now) {
      const [row] = await rows(tx, `select * from gw_subscriptions where id = $1${lock}`, [id])
      const { term, interval } = toSubscription(row as SqlRow)
      const { anchorAt, months } = extendTerm(term, interval, now)
      const text = 'update gw_subscriptions set anchor_at = $1, paid_months = $2 where id = $3'
      await rows(tx, text, [anchorAt, months, id])
    },
    find: (db, accountId, id) => findOne(db, accountId, id, ''),
    // The weakest lock that keeps `cancel` out: a settlement, which locks caps first, must not wait for it.
    findForPayin: (tx, accountId, id) =>
      findOne(tx, accountId, id, dialect === 'postgres' ? ' for key share' : ''),
    lock: (tx, accountId, id) => findOne(tx, accountId, id, dialect === 'postgres' ? ' for update' : ''),
    async cancel(tx, subscription, now) {
      await rows(tx, 'update gw_subscriptions set canceled_at = $1 where id = $2', [now, subscription.id])
      return { ...subscription, canceledAt: now }
    },
    async page(db, accountId, position, limit) {
      const text = `select * from gw_subscriptions where account_id = $1 and position < $2
        order by position desc limit $3`
      const before = position === 0 ? Number.MAX_SAFE_INTEGER : position
      return (await rows(db, text, [accountId, before, limit])).map(toSubscription)
    },
  }
}

function toSubscription(row: SqlRow): Subscription {
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    planId: toText(row['plan_id']),
    amountCents: toInteger(row['amount_cents']),
    interval: toText(row['plan_interval']) as PlanInterval,
    term:
      row['anchor_at'] === null
        ? undefined
        : { anchorAt: toInteger(row['anchor_at']), months: toInteger(row['paid_months']) },
    createdAt: toInteger(row['created_at']),
    canceledAt: row['canceled_at'] === null ? null : toInteger(row['canceled_at']),
  }
}
