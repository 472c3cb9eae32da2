import { rows, toInteger, toText, type SqlClient, type SqlRow } from '@gatewright/kernel/sql'
import type { TokenTransfer } from '../../../chain/reader.ts'
import type { SeenTransfer } from '../payins/payin.ts'

/** A pay-in that has a transfer, settled or not. */
export interface AssignedTransfer {
  readonly id: string
  readonly confirming: boolean
  readonly seen: SeenTransfer
}

/** A pay-in and a transaction that it is said to be paid by. */
export interface SubmittedTransaction {
  readonly id: string
  readonly txHash: string
  readonly position: number
}

/** What a watcher asks of the pay-ins of a chain. Nothing here decides: pay-ins are locked and looked at again. */
interface PayinsOnChain {
  /** The addresses that serve one open pay-in each. */
  openAddresses(chainId: number): Promise<readonly string[]>
  /** Pay-ins, settled ones too, whose transfer is in a block from `fromBlock` on. */
  assignedTransfers(chainId: number, fromBlock: number): Promise<readonly AssignedTransfer[]>
  /** Pay-ins that have a transfer and are not settled. */
  confirmingTransfers(chainId: number): Promise<readonly AssignedTransfer[]>
  /** Open pay-ins without a transfer that this one may pay, from behind `position`: oldest first. */
  payableBy(
    transfer: TokenTransfer,
    position: number,
    limit: number,
  ): Promise<readonly Omit<SubmittedTransaction, 'txHash'>[]>
  /** Pay-ins that name this transaction, and have no transfer. */
  submittedWith(chainId: number, txHash: string, limit: number): Promise<readonly string[]>
  /** Pay-ins said to be paid and without a transfer, in a fixed order from behind one of them. */
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

/** The pay-ins of a chain, in SQL. */
export function payinsOnChain(db: SqlClient): PayinsOnChain {
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
