import { defer } from '@gatewright/kernel/internal/sql'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Payin, PayTo, SeenTransfer } from './payin.ts'
import { isOpen } from './states.ts'

const ADD_OPEN = `insert into gw_open_payins
    (payin_id, account_id, chain_id, token, pay_to, own_receiver, units, payer, created_at, due_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
const CHANGE_OPEN =
  'update gw_open_payins set submitted_tx = $2, has_transfer = $3, due_at = $4 where payin_id = $1'
const REMOVE_OPEN = 'delete from gw_open_payins where payin_id = $1'
// Without `on conflict`: when another pay-in has the transfer, the statement must fail.
const ADD_TRANSFER = `insert into gw_payin_transfers
    (chain_id, tx_hash, log_index, block_number, block_hash, account_id, payin_id, settled)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`
const CHANGE_TRANSFER = `update gw_payin_transfers set block_number = $4, block_hash = $5, settled = $6
  where chain_id = $1 and tx_hash = $2 and log_index = $3`
const REMOVE_TRANSFER =
  'delete from gw_payin_transfers where chain_id = $1 and tx_hash = $2 and log_index = $3'
const ADDRESS_PAID =
  'update gw_deposit_addresses set client_class = null where chain_id = $1 and address = $2'

/**
 * Adds a new pay-in to those that can be paid, in the round trip of the next statement. Watchers and expiry find pay-ins of all accounts
 * there.
 */
export async function addOpenPayin(
  tx: SqlQueries,
  { id, accountId, payTo, createdAt, dueAt }: Payin,
): Promise<void> {
  const terms = payTo
    ? [
        payTo.chainId,
        payTo.token,
        payTo.address,
        payTo.ownReceiver ? 1 : 0,
        payTo.units.toString(),
        payTo.payer,
      ]
    : [null, null, null, 0, null, null]
  await defer(tx, ADD_OPEN, [id, accountId, ...terms, createdAt, dueAt])
}

/**
 * Writes a move of a locked pay-in to the rows by which it is found without its account, in the round trip of the next statement. That
 * statement fails (`ERR_STORE_*`) if another pay-in has the transfer: of two that get one transfer simultaneously, the first to commit
 * keeps it.
 */
export async function changeLookups(tx: SqlQueries, before: Payin, after: Payin): Promise<void> {
  if (isOpen(after.status))
    await defer(tx, CHANGE_OPEN, [after.id, after.submittedTx, after.seen ? 1 : 0, after.dueAt])
  else await defer(tx, REMOVE_OPEN, [after.id])
  const { payTo } = after
  if (!payTo) return
  await changeTransfer(tx, payTo, before, after)
  // A limit counts only unpaid addresses.
  if (payTo.ownReceiver && after.status === 'settled')
    await defer(tx, ADDRESS_PAID, [payTo.chainId, payTo.address])
}

/** Stores the transfer that a pay-in has after a move, in place of the one that it had before. */
async function changeTransfer(
  tx: SqlQueries,
  { chainId }: PayTo,
  { seen: before }: Payin,
  { id, accountId, seen: after, status }: Payin,
): Promise<void> {
  const key = ({ txHash, logIndex }: SeenTransfer) => [chainId, txHash, logIndex]
  const settled = status === 'settled' ? 1 : 0
  const same = before && after && before.txHash === after.txHash && before.logIndex === after.logIndex
  if (same) {
    await defer(tx, CHANGE_TRANSFER, [...key(after), after.blockNumber, after.blockHash, settled])
    return
  }
  if (before) await defer(tx, REMOVE_TRANSFER, key(before))
  if (after)
    await defer(tx, ADD_TRANSFER, [...key(after), after.blockNumber, after.blockHash, accountId, id, settled])
}
