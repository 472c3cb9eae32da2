import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { TokenTransfer } from '../../chain/reader.ts'
import { confirmationsOf, mismatch } from './binding.ts'
import type { PayinEndings } from './endings.ts'
import type { Payin } from './payin.ts'
import type { PayinStore } from './payin-store.ts'

/** What applying transfers needs. */
export interface SightingServices {
  readonly payins: PayinStore
  readonly endings: PayinEndings
}

/** What a chain says now. */
export interface ChainView {
  readonly transfers: readonly TokenTransfer[]
  /** The newest block that the transfers were read up to. */
  readonly head: number
  /** Blocks that must hold a transfer before it settles. */
  readonly confirmations: number
}

/**
 * Applies what a chain shows to an open pay-in that the caller has locked in `tx`: settles it with the first matching transfer
 * that is deep enough, else notes one that is not. A transfer that another pay-in has is none. Faults: `ERR_STORE_*`, also
 * where two pay-ins take one transfer at once: one of them wins, the other asks again.
 */
export async function applySighting(
  { payins, endings }: SightingServices,
  tx: SqlQueries,
  payin: Payin,
  { transfers, head, confirmations }: ChainView,
  now: EpochMs,
): Promise<Payin> {
  const { payTo, createdAt, seen } = payin
  if (!payTo) return payin
  const payable = { ...payTo, payTo: payTo.address, createdAt }
  for (const transfer of transfers) {
    if (mismatch(payable, transfer) !== undefined || (await isTaken(tx, payin.id, transfer))) continue
    const { txHash, logIndex, blockNumber } = transfer
    if (confirmationsOf(transfer, head) >= confirmations) {
      return endings.paidOnChain(tx, payin, { txHash, logIndex, blockNumber }, now)
    }
    const known = seen?.txHash === txHash && seen.logIndex === logIndex && seen.blockNumber === blockNumber
    if (known) return payin
    return payins.move(tx, payin, 'seen', { seen: { txHash, logIndex, blockNumber }, detail: txHash }, now)
  }
  return payin
}

/** Whether the event settles, or is about to settle, another pay-in. The table's own constraint decides races. */
async function isTaken(
  tx: SqlQueries,
  id: string,
  { chainId, txHash, logIndex }: TokenTransfer,
): Promise<boolean> {
  const text = `select 1 from gw_payins
    where chain_id = $1 and transfer_tx = $2 and transfer_log = $3 and id <> $4`
  return (await rows(tx, text, [chainId, txHash, logIndex, id])).length > 0
}
