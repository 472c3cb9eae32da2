import { newId } from '@gatewright/host'
import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { rowLock } from '@gatewright/kernel/internal/sql'
import {
  type Row,
  instant,
  integer,
  named,
  nullable,
  nullableGroup,
  oneOf,
  position,
  table,
  text,
} from '@gatewright/host/tables'
import { extendTerm, termEnd, type Plan, type PlanInterval } from '../../product/plans.ts'

/** The subscriptions of all accounts. */
const subscriptionTable = table('gw_subscriptions', {
  id: text,
  position,
  accountId: text,
  planId: text,
  /** The price is fixed at the creation. */
  amountCents: integer,
  interval: named('plan_interval', oneOf<PlanInterval>()),
  /** The paid term; null before the first payment. */
  term: nullableGroup({ anchorAt: instant, months: named('paid_months', integer) }),
  createdAt: instant,
  /** When it was canceled. After that it gets no further pay-in. */
  canceledAt: nullable(instant),
})
export type Subscription = Row<typeof subscriptionTable>

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

/** A subscription to add. */
interface NewSubscription {
  readonly effectId: string
  readonly accountId: string
  readonly plan: Plan
  readonly now: EpochMs
}

/** The host's subscription records. */
export const subscriptions = {
  find: subscriptionTable.find,
  lock: subscriptionTable.lock,
  page: subscriptionTable.page,
  /** Adds a subscription in the caller's transaction, one per effect: a repeat returns the existing one. */
  async insert(tx: SqlQueries, { effectId, accountId, plan, now }: NewSubscription): Promise<Subscription> {
    const { amountCents, interval } = plan
    const text = `insert into gw_subscriptions (id, account_id, effect_id, plan_id, amount_cents, plan_interval, created_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (account_id, effect_id) do update set effect_id = excluded.effect_id returning ${subscriptionTable.columns}`
    const values = [newId('sub'), accountId, effectId, plan.id, amountCents, interval, now]
    const [row] = await rows(tx, text, values)
    return subscriptionTable.read(row as SqlRow)
  },
  /** Adds one paid period. Simultaneous calls each add their own. */
  async extend(tx: SqlQueries, accountId: string, id: string, now: EpochMs): Promise<void> {
    const conditions = `where account_id = $1 and id = $2${rowLock(tx, 'for no key update')}`
    const [subscription] = (await subscriptionTable.select(tx, conditions, [accountId, id])) as [Subscription]
    const { term, interval } = subscription
    await subscriptionTable.update(tx, subscription, { term: extendTerm(term ?? undefined, interval, now) })
  },
  /** Finds a subscription for a new pay-in. The subscription cannot be canceled until the transaction ends. */
  async findForPayin(tx: SqlQueries, accountId: string, id: string): Promise<Subscription | undefined> {
    // The weakest lock that makes `cancel` wait. A stronger one would make a settlement wait, which locks caps first.
    const conditions = `where id = $1 and account_id = $2${rowLock(tx, 'for key share')}`
    return (await subscriptionTable.select(tx, conditions, [id, accountId]))[0]
  },
  /** Cancels a locked subscription. */
  cancel: (tx: SqlQueries, subscription: Subscription, now: EpochMs): Promise<Subscription> =>
    subscriptionTable.update(tx, subscription, { canceledAt: now }),
}
