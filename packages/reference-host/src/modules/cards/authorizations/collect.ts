import type { EpochMs } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import { deleteOwned } from '../../delete-owned.ts'
import { lockDue } from '../../lock-due.ts'

const DUE = {
  table: 'gw_authorizations',
  due: "status = 'declined' and attention is null and excess_cents = 0 and created_at < $1",
  order: 'created_at',
}

/**
 * Deletes up to `limit` declined authorizations from before an instant, with their increments, movements and transactions, and resolves to their number.
 * They have moved no money. Those that wait for the operator stay, and those to which the network reported money. Afterwards their ids are
 * unknown. Several hosts that call it simultaneously delete different rows. Faults: `ERR_STORE_*`.
 */
export function collectDeclined(db: SqlClient, limit: number, before: EpochMs): Promise<number> {
  return db.transaction(async tx => {
    const locked = await lockDue(tx, DUE, before, limit)
    const declined = locked.map(row => ({ accountId: toText(row['account_id']), id: toText(row['id']) }))
    const remove = (statement: (owned: string) => string): Promise<void> =>
      deleteOwned(tx, declined, statement)
    const increments = 'from gw_authorization_increments where (account_id, authorization_id) in'
    await remove(
      owned => `delete from gw_provider_objects
        where kind = 'increment' and id in (select id ${increments} ${owned})`,
    )
    await remove(owned => `delete ${increments} ${owned}`)
    await remove(
      owned => `delete from gw_authorization_movements where (account_id, authorization_id) in ${owned}`,
    )
    await remove(
      owned => `delete from gw_provider_objects
        where kind = 'authorization' and (account_id, id) in ${owned}`,
    )
    await remove(
      owned => `delete from gw_transactions
        where source_kind = 'authorization' and status = 'declined' and (account_id, source_id) in ${owned}`,
    )
    await remove(owned => `delete from gw_authorizations where (account_id, id) in ${owned}`)
    return declined.length
  })
}
