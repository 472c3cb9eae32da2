import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { TokenTransfer } from '../../../chain/reader.ts'
import type { SeenTransfer } from '../payins/payin.ts'

/** A pay-in that was found without its account. */
export interface FoundPayin {
  readonly accountId: string
  readonly id: string
}

/** A pay-in and the transfer assigned to it. */
export interface AssignedTransfer extends FoundPayin {
  readonly confirming: boolean
  readonly seen: SeenTransfer
}

/** A pay-in and the transaction that a client submitted for it. */
export interface SubmittedTransaction extends FoundPayin {
  readonly txHash: string
  readonly position: number
}

/**
 * Queries of the watcher over the open pay-ins of a chain and their transfers, of all accounts. Callers lock and read a pay-in again before
 * they change it.
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
  moved(transfer: TokenTransfer, limit: number): Promise<readonly FoundPayin[]>
  /** Pay-ins without a transfer for which this transaction was submitted. */
  submittedWith(chainId: number, txHash: string, limit: number): Promise<readonly FoundPayin[]>
  /** Pay-ins without a transfer for which any transaction was submitted, in a fixed order after `after`. */
  nextSubmitted(
    chainId: number,
    after: SubmittedTransaction | undefined,
    limit: number,
  ): Promise<readonly SubmittedTransaction[]>
}

const ASSIGNED = `select account_id, payin_id, settled, tx_hash, log_index, block_number, block_hash
  from gw_payin_transfers where chain_id = $1`

function toFoundPayin(row: SqlRow): FoundPayin {
  return { accountId: toText(row['account_id']), id: toText(row['payin_id']) }
}

function toAssignedTransfer(row: SqlRow): AssignedTransfer {
  return {
    ...toFoundPayin(row),
    confirming: toInteger(row['settled']) === 0,
    seen: {
      txHash: toText(row['tx_hash']),
      logIndex: toInteger(row['log_index']),
      blockNumber: toInteger(row['block_number']),
      blockHash: toText(row['block_hash']),
    },
  }
}

/** Creates the queries over SQL. */
export function payinsOnChain(db: SqlQueries): PayinsOnChain {
  return {
    async openAddresses(chainId) {
      const text = 'select pay_to from gw_open_payins where chain_id = $1 and own_receiver = 1'
      return (await rows(db, text, [chainId])).map(row => toText(row['pay_to']))
    },
    async assignedTransfers(chainId, fromBlock) {
      const text = `${ASSIGNED} and block_number >= $2`
      return (await rows(db, text, [chainId, fromBlock])).map(toAssignedTransfer)
    },
    async confirmingTransfers(chainId) {
      return (await rows(db, `${ASSIGNED} and settled = 0`, [chainId])).map(toAssignedTransfer)
    },
    async payableBy({ chainId, to, units, token, from, minedAt }, position, limit) {
      const oldest = (payer: string): string => `select * from (
        select account_id, payin_id, position from gw_open_payins
        where chain_id = $1 and pay_to = $2 and units = $3 and ${payer} and has_transfer = 0
          and token = $5 and created_at <= $6 and position > $7
        order by position limit $8) p`
      const text = `${oldest('payer = $4')} union all ${oldest('payer is null')}`
      const values = [chainId, to, units.toString(), from, token, minedAt, position, limit]
      return (await rows(db, text, values)).map(row => ({
        ...toFoundPayin(row),
        position: toInteger(row['position']),
      }))
    },
    async moved({ chainId, txHash, blockHash, logIndex, to, units, token }, limit) {
      const text = `select t.account_id, t.payin_id from gw_payin_transfers t
        join gw_open_payins p on p.payin_id = t.payin_id
        where t.chain_id = $1 and t.tx_hash = $2 and t.block_hash <> $3
          and p.pay_to = $4 and p.units = $5 and p.token = $6
        order by case when t.log_index = $7 then 0 else 1 end, p.position limit $8`
      const values = [chainId, txHash, blockHash, to, units.toString(), token, logIndex, limit]
      return (await rows(db, text, values)).map(toFoundPayin)
    },
    async submittedWith(chainId, txHash, limit) {
      const text = `select account_id, payin_id from gw_open_payins
        where chain_id = $1 and submitted_tx = $2 and has_transfer = 0 order by position limit $3`
      return (await rows(db, text, [chainId, txHash, limit])).map(toFoundPayin)
    },
    async nextSubmitted(chainId, after, limit) {
      const text = `select account_id, payin_id, position, submitted_tx from gw_open_payins
        where chain_id = $1 and (submitted_tx, position) > ($2, $3) and submitted_tx is not null and has_transfer = 0
        order by submitted_tx, position limit $4`
      return (await rows(db, text, [chainId, after?.txHash ?? '', after?.position ?? 0, limit])).map(row => ({
        ...toFoundPayin(row),
        position: toInteger(row['position']),
        txHash: toText(row['submitted_tx']),
      }))
    },
  }
}
