import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import { newId, ownedRows } from '../records/owned-rows.ts'

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
  /** The business object. `part` distinguishes several rows of one object, such as the two sides of a payment. Default: ''. */
  readonly source: { readonly kind: string; readonly id: string; readonly part?: string }
  readonly type: TransactionType
  readonly status: 'pending' | 'completed' | 'declined' | 'reversed' | 'failed'
  /** Integer US cents. */
  readonly amountCents: number
  /** `debit`: leaves the balance. */
  readonly direction: 'debit' | 'credit'
  /** One line for the account. No personal data of others. */
  readonly description: string
  /** Only for the type `spend`. */
  readonly cardId?: string | null
  readonly merchant?: Merchant | null
  /** The wallet of the other side of a payment, in lower case. */
  readonly counterparty?: string | null
  /** What the sender of a payment wrote to its receiver. */
  readonly memo?: string | null
}

/** The types of transactions. */
export const TRANSACTION_TYPES = ['spend', 'collateral', 'payment', 'fee'] as const
type TransactionType = (typeof TRANSACTION_TYPES)[number]

/** Which transactions a list holds. An absent member filters nothing. */
interface TransactionFilter {
  readonly cardId?: string | undefined
  readonly types?: readonly TransactionType[] | undefined
}

/** A stored transaction. */
export interface Transaction extends Required<TransactionEntry> {
  readonly id: string
  readonly position: number
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs
}

/** The transactions of all accounts: one row per account and business object. */
export interface TransactionStore {
  /** Returns up to `limit` transactions, newest first, that are older than the position `after` (0: from the newest). */
  page(
    db: SqlQueries,
    accountId: string,
    page: { readonly after: number; readonly limit: number },
    filter?: TransactionFilter,
  ): Promise<Transaction[]>
  /** Writes the row of a business object. A row that exists gets the new status, amount and description; its position stays. */
  write(tx: SqlQueries, entry: TransactionEntry, now: EpochMs): Promise<void>
}

const WRITE = `insert into gw_transactions (id, account_id, source_kind, source_id, part, type, status,
    amount_cents, direction, description, card_id, merchant, counterparty, memo, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)
  on conflict (source_kind, source_id, part) do update set status = excluded.status,
    amount_cents = excluded.amount_cents, description = excluded.description, updated_at = excluded.updated_at`

/** Makes the transaction store of a SQL database. */
export function transactionStore(dialect: SqlDialect): TransactionStore {
  const all = ownedRows(dialect, 'gw_transactions', toTransaction)
  return {
    async page(db, accountId, page, { cardId, types } = {}) {
      if (cardId === undefined)
        return types === undefined ? all.page(db, accountId, page) : pageOfTypes(db, accountId, page, types)
      // The database allows a card for the type `spend` only.
      return types?.includes('spend') === false ? [] : all.page(db, accountId, page, { card_id: cardId })
    },
    async write(tx, entry, now) {
      const { accountId, source, type, status, amountCents, direction, description } = entry
      const { cardId = null, merchant = null, counterparty = null, memo = null } = entry
      await rows(tx, WRITE, [
        newId('txn'),
        accountId,
        source.kind,
        source.id,
        source.part ?? '',
        type,
        status,
        amountCents,
        direction,
        description,
        cardId,
        merchant === null ? null : JSON.stringify(merchant),
        counterparty,
        memo,
        now,
      ])
    },
  }
}

/** One short read of an index for each type, so that a page costs the same wherever it is and however rare its types are. */
async function pageOfTypes(
  db: SqlQueries,
  accountId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
  types: readonly TransactionType[],
): Promise<Transaction[]> {
  const parts = types.map(
    type => `select * from (select * from gw_transactions where account_id = $1 and position < $2
      and type = '${type}' order by position desc limit $3) of_${type}`,
  )
  const text = `${parts.join(' union all ')} order by position desc limit $3`
  const before = after === 0 ? Number.MAX_SAFE_INTEGER : after
  return (await rows(db, text, [accountId, before, limit])).map(toTransaction)
}

/** Converts a row of the table of transactions. */
export function toTransaction(row: SqlRow): Transaction {
  const [cardId, merchant] = [row['card_id'], row['merchant']]
  const [counterparty, memo] = [row['counterparty'], row['memo']]
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    source: { kind: toText(row['source_kind']), id: toText(row['source_id']), part: toText(row['part']) },
    type: toText(row['type']) as TransactionType,
    status: toText(row['status']) as Transaction['status'],
    amountCents: toInteger(row['amount_cents']),
    direction: toText(row['direction']) as Transaction['direction'],
    description: toText(row['description']),
    cardId: cardId === null ? null : toText(cardId),
    merchant: merchant === null ? null : (JSON.parse(toText(merchant)) as Merchant),
    counterparty: counterparty === null ? null : toText(counterparty),
    memo: memo === null ? null : toText(memo),
    createdAt: toInteger(row['created_at']),
    updatedAt: toInteger(row['updated_at']),
  }
}
