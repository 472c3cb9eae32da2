import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { TokenTransfer } from '../../../chain/reader.ts'
import type { Payin, SeenTransfer } from '../payins/payin.ts'
import type { PayinSettlement } from '../payins/settlement.ts'
import { confirmationsOf, mismatch } from './match-transfer.ts'
import { payinsOnChain } from './payins-on-chain.ts'
import { payins } from '../payins/payin-store.ts'

/** The services that apply transfers. */
export interface ApplyServices {
  readonly settlement: PayinSettlement
}

/** Transfers of a chain, with its newest block and the required confirmations. */
export interface ChainView {
  readonly transfers: readonly TokenTransfer[]
  /** The newest block up to which the transfers were read. */
  readonly head: number
  /** How many confirmations a transfer needs before it settles. */
  readonly confirmations: number
}

/**
 * Applies transfers to an open pay-in that the caller has locked in `tx`: settles it with the first matching transfer that has
 * enough confirmations, else records a matching transfer as seen. Transfers already assigned to another pay-in are ignored.
 * Faults: `ERR_STORE_*`, also if two pay-ins are assigned one transfer simultaneously: one succeeds, the other must retry.
 */
export async function applyTransfers(
  { settlement }: ApplyServices,
  tx: SqlQueries,
  payin: Payin,
  { transfers, head, confirmations, now }: ChainView & { readonly now: EpochMs },
): Promise<Payin> {
  const { payTo, createdAt, seen } = payin
  if (!payTo) return payin
  const payable = { ...payTo, payTo: payTo.address, createdAt }
  for (const transfer of transfers) {
    if (mismatch(payable, transfer) !== undefined || (await isAssignedElsewhere(tx, payin, transfer)))
      continue
    if (confirmationsOf(transfer, head) >= confirmations) {
      return settlement.settleOnChain(tx, payin, transfer, now)
    }
    if (seen && isSameEvent(seen, transfer)) return payin
    return payins.move(tx, payin, 'seen', { seen: transfer, detail: transfer.txHash, now })
  }
  return payin
}

/**
 * Whether the transfer is assigned to another pay-in; the primary key of `gw_payin_transfers` decides races. A transaction that has settled a pay-in and
 * is then found in another block was reorganised after its confirmations: the same money, perhaps at another log index, must
 * not settle a second pay-in. A transaction that is confirming for another pay-in stays assigned to it in another block, too,
 * unless this pay-in has a transfer of the same transaction.
 */
async function isAssignedElsewhere(
  tx: SqlQueries,
  { id, seen }: Payin,
  transfer: TokenTransfer,
): Promise<boolean> {
  const { chainId, txHash, logIndex, blockHash } = transfer
  if (seen?.txHash !== txHash && (await payinsOnChain(tx).moved(transfer, 1)).length > 0) return true
  const text = `select 1 from gw_payin_transfers where chain_id = $1 and tx_hash = $2 and payin_id <> $3
    and (log_index = $4 or (settled = 1 and block_hash <> $5))`
  return (await rows(tx, text, [chainId, txHash, id, logIndex, blockHash])).length > 0
}

/** Whether a transfer is the seen one, in the same block. */
export function isSameEvent(seen: SeenTransfer, transfer: SeenTransfer): boolean {
  return (
    seen.txHash === transfer.txHash &&
    seen.logIndex === transfer.logIndex &&
    seen.blockHash === transfer.blockHash
  )
}
