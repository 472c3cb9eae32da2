import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText, type SqlRow } from '@gatewright/kernel/internal/sql'
import type { TokenTransfer } from '../../../chain/reader.ts'
import type { SeenTransfer } from '../payins/payin.ts'

/** A pay-in and the transfer assigned to it. */
export interface AssignedTransfer {
  readonly id: string
  readonly confirming: boolean
  readonly seen: SeenTransfer
}

/** A pay-in and the transaction that a client submitted for it. */
export interface SubmittedTransaction {
  readonly id: string
  readonly txHash: string
  readonly position: number
}

/**
 * Queries of the watcher over the pay-ins of a chain. Callers lock and read a pay-in again before they change
 * it.
 */
interface PayinsOnChain {
  /** The deposit addresses of open pay-ins. */
  openAddresses(chainId: number): Promise<readonly string[]>
  /** Pay-ins, settled ones included, whose transfer is in a block from `fromBlock` on. */
  assignedTransfers(chainId: number, fromBlock: number): Promise<readonly AssignedTransfer[]>
  /** Unsettled pay-ins with a transfer. */
  confirmingTransfers(chainId: number): Promise<readonly AssignedTransfer[]>
  /** Open pay-ins without a transfer that this transfer may pay, after `position`, oldest first. */
  payableBy(
    transfer: TokenTransfer,
    position: number,
    limit: number,
  ): Promise<readonly Omit<SubmittedTransaction, 'txHash'>[]>
  /**
   * Unsettled pay-ins of this amount with a transfer of the same transaction in another block, that of the same log index
   * first. A transaction is in one block only, so the transfers that these pay-ins have seen are not in the chain.
   */
  moved(transfer: TokenTransfer, limit: number): Promise<readonly string[]>
  /** Pay-ins without a transfer for which this transaction was submitted. */
  submittedWith(chainId: number, txHash: string, limit: number): Promise<readonly string[]>
  /** Pay-ins without a transfer for which any transaction was submitted, in a fixed order after `after`. */
  nextSubmitted(
    chainId: number,
    after: SubmittedTransaction | undefined,
    limit: number,
  ): Promise<readonly SubmittedTransaction[]>
}

const OPEN = "status in ('awaiting_payment', 'confirming')"
const SUBMITTED = "status = 'confirming' and submitted_tx is not null and transfer_tx is null"

const ASSIGNED = `select id, status, transfer_tx, transfer_log, transfer_block, transfer_block_hash from gw_payins
  where chain_id = $1 and transfer_tx is not null`

function toAssignedTransfer(row: SqlRow): AssignedTransfer {
  return {
    id: toText(row['id']),
    confirming: row['status'] === 'confirming',
    seen: {
      txHash: toText(row['transfer_tx']),
      logIndex: toInteger(row['transfer_log']),
      blockNumber: toInteger(row['transfer_block']),
      blockHash: toText(row['transfer_block_hash']),
    },
  }
}

/** Creates the queries over SQL. */
export function payinsOnChain(db: SqlQueries): PayinsOnChain {
  return {
    async openAddresses(chainId) {
      const text = `select pay_to from gw_payins where chain_id = $1 and own_receiver = 1 and ${OPEN}`
      return (await rows(db, text, [chainId])).map(row => toText(row['pay_to']))
    },
    async assignedTransfers(chainId, fromBlock) {
      const text = `${ASSIGNED} and transfer_block >= $2`
      return (await rows(db, text, [chainId, fromBlock])).map(toAssignedTransfer)
    },
    async confirmingTransfers(chainId) {
      return (await rows(db, `${ASSIGNED} and status = 'confirming'`, [chainId])).map(toAssignedTransfer)
    },
    async payableBy({ chainId, to, units, token, from, minedAt }, position, limit) {
      const oldest = (payer: string): string => `select * from (select id, position from gw_payins
        where chain_id = $1 and pay_to = $2 and units = $3 and ${payer} and ${OPEN} and transfer_tx is null
          and token = $5 and created_at <= $6 and position > $7
        order by position limit $8) p`
      const text = `${oldest('payer = $4')} union all ${oldest('payer is null')}`
      const values = [chainId, to, units.toString(), from, token, minedAt, position, limit]
      return (await rows(db, text, values)).map(row => ({
        id: toText(row['id']),
        position: toInteger(row['position']),
      }))
    },
    async moved({ chainId, txHash, blockHash, logIndex, to, units, token }, limit) {
      const text = `select id from gw_payins where chain_id = $1 and transfer_tx = $2 and status = 'confirming'
          and transfer_block_hash <> $3 and pay_to = $4 and units = $5 and token = $6
        order by case when transfer_log = $7 then 0 else 1 end, position limit $8`
      const values = [chainId, txHash, blockHash, to, units.toString(), token, logIndex, limit]
      return (await rows(db, text, values)).map(row => toText(row['id']))
    },
    async submittedWith(chainId, txHash, limit) {
      const text = `select id from gw_payins where chain_id = $1 and submitted_tx = $2 and ${SUBMITTED}
        order by position limit $3`
      return (await rows(db, text, [chainId, txHash, limit])).map(row => toText(row['id']))
    },
    async nextSubmitted(chainId, after, limit) {
      const text = `select id, position, submitted_tx from gw_payins
        where chain_id = $1 and (submitted_tx, position) > ($2, $3) and ${SUBMITTED}
        order by submitted_tx, position limit $4`
      return (await rows(db, text, [chainId, after?.txHash ?? '', after?.position ?? 0, limit])).map(row => ({
        id: toText(row['id']),
        position: toInteger(row['position']),
        txHash: toText(row['submitted_tx']),
      }))
    },
  }
}
