import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import { newId, ownedRows, type OwnedRows } from '../records/owned-rows.ts'

/** Who was paid by card. */
export interface Merchant {
  readonly name: string
  /** Merchant category code, 4 digits. */
  readonly mcc: string
  readonly city: string | null
  /** Two letters. */
  readonly country: string
}

/** What a transaction row says of one business object, such as a card authorization, for one account. */
export interface TransactionEntry {
  readonly accountId: string
  /** The business object. `part` tells apart several rows of one object, such as the two sides of a payment. Default: ''. */
  readonly source: { readonly kind: string; readonly id: string; readonly part?: string }
  readonly type: 'spend' | 'collateral' | 'payment' | 'fee'
  readonly status: 'pending' | 'completed' | 'declined' | 'reversed' | 'failed'
  /** Integer US cents. */
  readonly amountCents: number
  /** `debit`: leaves the balance. */
  readonly direction: 'debit' | 'credit'
  /** One line for the account. No personal data of others. */
  readonly description: string
  readonly cardId?: string | null
  readonly merchant?: Merchant | null
}

/** A stored transaction. */
export interface Transaction extends Required<TransactionEntry> {
  readonly id: string
  readonly position: number
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs
}

/** The transactions of all accounts: one row per account and business object. */
export interface TransactionStore extends Pick<OwnedRows<Transaction>, 'page'> {
  /** Writes the row of a business object. A row that exists gets the new status, amount and description; its position stays. */
  write(tx: SqlQueries, entry: TransactionEntry, now: EpochMs): Promise<void>
}

const WRITE = `insert into gw_transactions (id, account_id, source_kind, source_id, part, type, status,
    amount_cents, direction, description, card_id, merchant, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)
  on conflict (source_kind, source_id, part) do update set status = excluded.status,
    amount_cents = excluded.amount_cents, description = excluded.description, updated_at = excluded.updated_at`

/** Makes the transaction store of a SQL database. */
export function transactionStore(dialect: SqlDialect): TransactionStore {
  const { page } = ownedRows(dialect, 'gw_transactions', toTransaction)
  return {
    page,
    async write(tx, entry, now) {
      const { accountId, source, type, status, amountCents, direction, description } = entry
      const { cardId = null, merchant = null } = entry
      await rows(tx, WRITE, [
        ...[newId('txn'), accountId, source.kind, source.id, source.part ?? '', type, status],
        ...[amountCents, direction, description, cardId],
        ...[merchant === null ? null : JSON.stringify(merchant), now],
      ])
    },
  }
}

function toTransaction(row: SqlRow): Transaction {
  const [cardId, merchant] = [row['card_id'], row['merchant']]
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    source: { kind: toText(row['source_kind']), id: toText(row['source_id']), part: toText(row['part']) },
    type: toText(row['type']) as Transaction['type'],
    status: toText(row['status']) as Transaction['status'],
    amountCents: toInteger(row['amount_cents']),
    direction: toText(row['direction']) as Transaction['direction'],
    description: toText(row['description']),
    cardId: cardId === null ? null : toText(cardId),
    merchant: merchant === null ? null : (JSON.parse(toText(merchant)) as Merchant),
    createdAt: toInteger(row['created_at']),
    updatedAt: toInteger(row['updated_at']),
  }
}
