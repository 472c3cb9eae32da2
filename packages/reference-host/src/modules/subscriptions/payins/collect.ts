import type { EpochMs } from '@gatewright/kernel/internal'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { rowLock, toText } from '@gatewright/kernel/internal/sql'

/** How long an unpaid pay-in is kept after its deadline, in ms (30 days). */
export const UNPAID_KEPT_MS = 30 * 86_400_000

/**
 * Deletes up to `limit` pay-ins that ended unpaid 30 days ago or earlier, counted from their deadline, with their history, and
 * the subscriptions that were never paid and have no pay-in left. Returns how many pay-ins it deleted. Some pay-ins are kept
 * for ever: settled ones, which document payments; those with a transfer; and those with a deposit address of their own, to
 * which somebody may still send. Several hosts that call it simultaneously delete different rows. Faults: `ERR_STORE_*`.
 */
export function collectUnpaidPayins(db: SqlClient, limit: number, now: EpochMs): Promise<number> {
  const due = `select account_id, id, subscription_id from gw_payins
    where status in ('expired', 'failed', 'canceled') and own_receiver = 0 and transfer_tx is null and due_at <= $1
    order by due_at limit $2${rowLock(db, 'for update skip locked')}`
  return db.transaction(async tx => {
    const found = await rows(tx, due, [now - UNPAID_KEPT_MS, limit])
    const payins = found.map(row => ({ accountId: toText(row['account_id']), id: toText(row['id']) }))
    await deleteIn(tx, 'delete from gw_payin_moves where (account_id, payin_id)', payins)
    await deleteIn(tx, 'delete from gw_payins where (account_id, id)', payins)
    const subscriptions = new Map<string, OwnedId>()
    for (const row of found) {
      if (row['subscription_id'] === null) continue
      const subscription = { accountId: toText(row['account_id']), id: toText(row['subscription_id']) }
      subscriptions.set(`${subscription.accountId} ${subscription.id}`, subscription)
    }
    const unpaid = `delete from gw_subscriptions where anchor_at is null
      and not exists (select 1 from gw_payins
        where account_id = gw_subscriptions.account_id and subscription_id = gw_subscriptions.id)
      and (account_id, id)`
    await deleteIn(tx, unpaid, [...subscriptions.values()])
    return payins.length
  })
}

interface OwnedId {
  readonly accountId: string
  readonly id: string
}

/** Runs a statement that ends before `in (...)` with these accounts and ids, if there are any. */
async function deleteIn(tx: SqlQueries, statement: string, owned: readonly OwnedId[]): Promise<void> {
  if (owned.length === 0) return
  const places = owned.map((_, index) => `($${2 * index + 1}, $${2 * index + 2})`).join(', ')
  const values = owned.flatMap(({ accountId, id }) => [accountId, id])
  await rows(tx, `${statement} in (values ${places})`, values)
}
