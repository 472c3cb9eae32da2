import type { EpochMs } from '@gatewright/kernel/internal'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { defer } from '@gatewright/kernel/internal/sql'
import { group, instant, integer, json, named, nullable, position, text, oneOf } from '../records/columns.ts'
import { newId } from '../records/new-id.ts'
import { table, type PageOf, type Row } from '../records/table.ts'

/** The merchant of a payment by card. */
export interface Merchant {
  readonly name: string
  /** Merchant category code, 4 digits. */
  readonly mcc: string
  readonly city: string | null
  /** Two letters. */
  readonly country: string
}

/** The content of a transaction row, which shows one business object, such as a card authorization, to one account. */
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

/** The filter of a list of transactions. An absent member filters nothing. */
interface TransactionFilter {
  readonly cardId?: string | undefined
  readonly types?: readonly TransactionType[] | undefined
}

/** The transactions of all accounts: one row per account and business object. */
export const transactionTable = table('gw_transactions', {
  id: text,
  position,
  accountId: text,
  source: group({ kind: named('source_kind', text), id: named('source_id', text), part: text }),
  type: oneOf<TransactionType>(),
  status: oneOf<TransactionEntry['status']>(),
  amountCents: integer,
  direction: oneOf<TransactionEntry['direction']>(),
  description: text,
  cardId: nullable(text),
  merchant: nullable(json<Merchant>()),
  counterparty: nullable(text),
  memo: nullable(text),
  createdAt: instant,
  updatedAt: instant,
})
/** A stored transaction. */
export type Transaction = Row<typeof transactionTable>

const WRITE = `insert into gw_transactions (id, account_id, source_kind, source_id, part, type, status,
    amount_cents, direction, description, card_id, merchant, counterparty, memo, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)
  on conflict (account_id, source_kind, source_id, part) do update set status = excluded.status,
    amount_cents = excluded.amount_cents, description = excluded.description, updated_at = excluded.updated_at`

export const transactions = {
  /** Returns a page of the account's transactions, newest first. */
  async page(
    db: SqlQueries,
    accountId: string,
    page: PageOf,
    { cardId, types }: TransactionFilter = {},
  ): Promise<Transaction[]> {
    if (cardId === undefined)
      return types === undefined
        ? transactionTable.page(db, accountId, page)
        : pageOfTypes(db, accountId, page, types)
    // Only transactions of the type `spend` have a card (a check in the database).
    return types?.includes('spend') === false ? [] : transactionTable.page(db, accountId, page, { cardId })
  },
  /** Writes the row of a business object, in the round trip of the next statement. If the row exists, its status, amount and description change; its position stays. */
  async write(tx: SqlQueries, entry: TransactionEntry, now: EpochMs): Promise<void> {
    const { accountId, source, type, status, amountCents, direction, description } = entry
    const { cardId = null, merchant = null, counterparty = null, memo = null } = entry
    await defer(tx, WRITE, [
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

/**
 * Reads a page by one short index scan per type, so that its cost depends neither on its position nor on how rare the types
 * are.
 */
async function pageOfTypes(
  db: SqlQueries,
  accountId: string,
  { after, limit }: PageOf,
  types: readonly TransactionType[],
): Promise<Transaction[]> {
  const parts = types.map(
    type => `select * from (select * from gw_transactions where account_id = $1 and position < $2
      and type = '${type}' order by position desc limit $3) of_${type}`,
  )
  const text = `${parts.join(' union all ')} order by position desc limit $3`
  const before = after === 0 ? Number.MAX_SAFE_INTEGER : after
  return (await rows(db, text, [accountId, before, limit])).map(transactionTable.read)
}
