import type { EpochMs } from '@gatewright/kernel'
import { rows, toText, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { toTransaction } from '../../ledger/transactions.ts'

/** A payment between two wallet users, as one of them sees it. */
export interface Payment {
  readonly id: string
  readonly position: number
  readonly direction: 'debit' | 'credit'
  /** The wallet of the other side. */
  readonly walletAddress: string
  readonly amountCents: number
  readonly memo: string | null
  readonly createdAt: EpochMs
}

/** Reads payments. A payment is its two transactions: the parts `sent` and `received` under one id. */
export interface PaymentStore {
  /** Finds a payment that an account has sent. */
  findSent(db: SqlQueries, accountId: string, id: string): Promise<Payment | undefined>
  /** A page of what an account sent and received, newest first, before `position` (0: from the newest). */
  page(db: SqlQueries, accountId: string, position: number, limit: number): Promise<readonly Payment[]>
  /**
   * The accounts of the wallet users with an address, in lower case. Two if the address signs as a wallet and as a contract, or
   * as contracts on two chains. An address that a partner gave for its user proves nothing and is not found.
   */
  accountsOfWallet(db: SqlQueries, walletAddress: string): Promise<readonly string[]>
}

// The other side is looked up for each row of the page: a join would be planned for all payments of the account.
const PAYMENT = `select t.*, (select u.wallet_address from gw_transactions o
      join gw_users u on u.account_id = o.account_id
      where o.source_kind = 'payment' and o.source_id = t.source_id and o.part <> t.part) as other_wallet
  from gw_transactions t where t.account_id = $1 and t.source_kind = 'payment'`

/** Makes the store of payments. */
export function paymentStore(): PaymentStore {
  return {
    async findSent(db, accountId, id) {
      const [row] = await rows(db, `${PAYMENT} and t.source_id = $2 and t.part = 'sent'`, [accountId, id])
      return row && toPayment(row)
    },
    async page(db, accountId, position, limit) {
      const before = position === 0 ? Number.MAX_SAFE_INTEGER : position
      const text = `${PAYMENT} and t.position < $2 order by t.position desc limit $3`
      return (await rows(db, text, [accountId, before, limit])).map(toPayment)
    },
    async accountsOfWallet(db, walletAddress) {
      const text =
        'select account_id from gw_users where wallet_address = $1 and principal is not null limit 2'
      return (await rows(db, text, [walletAddress])).map(row => toText(row['account_id']))
    },
  }
}

function toPayment(row: SqlRow): Payment {
  const { source, position, direction, amountCents, memo, createdAt } = toTransaction(row)
  const walletAddress = toText(row['other_wallet'])
  return { id: source.id, position, direction, walletAddress, amountCents, memo, createdAt }
}
