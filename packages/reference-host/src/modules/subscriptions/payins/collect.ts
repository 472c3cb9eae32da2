import type { EpochMs } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import { deleteOwned, type OwnedId } from '../../delete-owned.ts'
import { lockDue } from '../../lock-due.ts'

const DUE = {
  table: 'gw_payins',
  columns: 'subscription_id',
  due: "status in ('expired', 'failed', 'canceled') and own_receiver = 0 and transfer_tx is null and due_at <= $1",
  order: 'due_at',
}

/**
 * Deletes up to `limit` pay-ins that ended unpaid and whose deadline was not after `dueUntil`, with their history, and
 * the subscriptions that were never paid and have no pay-in left. Returns how many pay-ins it deleted. Some pay-ins are kept
 * for ever: settled ones, which document payments; those with a transfer; and those with a deposit address of their own, to
 * which somebody may still send. Several hosts that call it simultaneously delete different rows. Faults: `ERR_STORE_*`.
 */
export function collectUnpaidPayins(db: SqlClient, limit: number, dueUntil: EpochMs): Promise<number> {
  return db.transaction(async tx => {
    const found = await lockDue(tx, DUE, dueUntil, limit)
    const payins = found.map(row => ({ accountId: toText(row['account_id']), id: toText(row['id']) }))
    await deleteOwned(
      tx,
      payins,
      owned => `delete from gw_payin_moves where (account_id, payin_id) in ${owned}`,
    )
    await deleteOwned(tx, payins, owned => `delete from gw_payins where (account_id, id) in ${owned}`)
    const subscriptions = new Map<string, OwnedId>()
    for (const row of found) {
      if (row['subscription_id'] === null) continue
      const subscription = { accountId: toText(row['account_id']), id: toText(row['subscription_id']) }
      subscriptions.set(`${subscription.accountId} ${subscription.id}`, subscription)
    }
    await deleteOwned(
      tx,
      [...subscriptions.values()],
      owned => `delete from gw_subscriptions where anchor_at is null
        and not exists (select 1 from gw_payins
          where account_id = gw_subscriptions.account_id and subscription_id = gw_subscriptions.id)
        and (account_id, id) in ${owned}`,
    )
    return payins.length
  })
}
