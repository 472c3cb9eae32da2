import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlValue } from '@gatewright/kernel/sql'
import { defer, toText } from '@gatewright/kernel/internal/sql'
import { group, instant, integer, json, named, nullable, position, text, oneOf } from '../records/columns.ts'
import { newId } from '../records/new-id.ts'
import { readNewest, type NewestPage, type Place, type RowFilter } from '../records/newest-page.ts'
import { table, type Row } from '../records/table.ts'

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
  readonly status: (typeof TRANSACTION_STATUSES)[number]
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
  /** The API key that caused it: of the session, or for a payment by card the first key of the lineage that made the card. */
  readonly keyId?: string | null
}

/** The types of transactions. */
export const TRANSACTION_TYPES = ['spend', 'collateral', 'payment', 'fee'] as const
type TransactionType = (typeof TRANSACTION_TYPES)[number]

/** The statuses of transactions. */
export const TRANSACTION_STATUSES = ['pending', 'completed', 'declined', 'reversed', 'failed'] as const

/** The filter of a list of transactions. An absent member filters nothing. */
export interface TransactionFilter {
  /** The transaction with this id. */
  readonly id?: string | undefined
  /** Those of this business object. */
  readonly source?: { readonly kind: string; readonly id: string } | undefined
  readonly cardId?: string | undefined
  readonly keyId?: string | undefined
  readonly types?: readonly TransactionType[] | undefined
  readonly statuses?: readonly TransactionEntry['status'][] | undefined
  /** Those that match a search. */
  readonly matches?: ((transaction: Transaction) => boolean) | undefined
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
  keyId: nullable(text),
  createdAt: instant,
  updatedAt: instant,
})
/** A stored transaction. */
export type Transaction = Row<typeof transactionTable>

/** The values of a row: those of `valuesOf`. */
const VALUES = 16
const tuple = (row: number): string => {
  const places = Array.from({ length: VALUES }, (_, index) => `$${row * VALUES + index + 1}`)
  return `(${places.join(', ')}, ${places.at(-1)})`
}
const insertRows = (
  count: number,
): string => `insert into gw_transactions (id, account_id, source_kind, source_id,
    part, type, status, amount_cents, direction, description, card_id, merchant, counterparty, memo, key_id, created_at, updated_at)
  values ${Array.from({ length: count }, (_, row) => tuple(row)).join(', ')}
  on conflict (account_id, source_kind, source_id, part)`
const ADD = `${insertRows(1)} do nothing returning id`
const writeRows = (count: number): string => `${insertRows(count)} do update set status = excluded.status,
    amount_cents = excluded.amount_cents, description = excluded.description, updated_at = excluded.updated_at`

/** Names a business object in the map of `keysOf`. */
export const sourceName = ({ kind, id }: { readonly kind: string; readonly id: string }): string =>
  `${kind} ${id}`

export const transactions = {
  find: transactionTable.find,
  /** Returns the account of a transaction; undefined for an unknown id. For operators, who know only the id. */
  async accountOf(db: SqlQueries, id: string): Promise<string | undefined> {
    const [row] = await rows(db, 'select account_id from gw_transactions where id = $1', [id])
    return row && toText(row['account_id'])
  },
  /**
   * Returns the ids of the keys that caused the transactions of some business objects of an account, by `sourceName`. Objects without a
   * transaction, and those that no key caused, are left out. Reads by the index on business objects.
   */
  async keysOf(
    db: SqlQueries,
    accountId: string,
    sources: readonly { readonly kind: string; readonly id: string }[],
  ): Promise<ReadonlyMap<string, string>> {
    if (sources.length === 0) return new Map()
    const values: SqlValue[] = [accountId]
    const place = (value: string): string => `$${values.push(value)}`
    const kinds = [...new Set(sources.map(({ kind }) => kind))]
    // With kinds joined by `or`, or the condition that a key is given, SQLite reads all transactions of the account.
    const selects = kinds.map(kind => {
      const ids = new Set(sources.filter(source => source.kind === kind).map(({ id }) => id))
      return `select source_kind, source_id, key_id from gw_transactions
        where account_id = $1 and source_kind = ${place(kind)} and source_id in (${[...ids].map(place).join(', ')})`
    })
    const found = await rows(db, selects.join(' union all '), values)
    return new Map(
      found.flatMap(row => {
        const source = { kind: toText(row['source_kind']), id: toText(row['source_id']) }
        return row['key_id'] === null ? [] : [[sourceName(source), toText(row['key_id'])] as const]
      }),
    )
  },
  /** Reads a page of the account's transactions, newest first. See `readNewest`. */
  async page(
    db: SqlQueries,
    accountId: string,
    page: NewestPage,
    filter: TransactionFilter = {},
  ): Promise<{ readonly rows: readonly Transaction[]; readonly next: Place | undefined }> {
    if (filter.cardId !== undefined && filter.types?.includes('spend') === false)
      return { rows: [], next: undefined }
    const { matches } = filter
    return readNewest(db, transactionTable, { ...page, accountId, filter: rowFilter(filter), matches })
  },
  /** Writes the row of a business object, in the round trip of the next statement. If the row exists, its status, amount and description change; its position stays. */
  write: (tx: SqlQueries, entry: TransactionEntry, now: EpochMs): Promise<void> =>
    transactions.writeAll(tx, [entry], now),
  /** Writes the rows of several business objects, or of parts of one, in one statement. */
  async writeAll(tx: SqlQueries, entries: readonly TransactionEntry[], now: EpochMs): Promise<void> {
    if (entries.length === 0) return
    const values = entries.flatMap(entry => valuesOf(entry, now))
    await defer(tx, writeRows(entries.length), values)
  },
  /** Adds the row of a business object; false if it exists, and is then unchanged. */
  async add(tx: SqlQueries, entry: TransactionEntry, now: EpochMs): Promise<boolean> {
    return (await rows(tx, ADD, valuesOf(entry, now))).length === 1
  },
}

/** The parameters of a row. */
function valuesOf(entry: TransactionEntry, now: EpochMs): readonly SqlValue[] {
  const { accountId, source, type, status, amountCents, direction, description } = entry
  const { cardId = null, merchant = null, counterparty = null, memo = null, keyId = null } = entry
  return [
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
    keyId,
    now,
  ]
}

/**
 * Chooses the index by which a page is read: that of an id, a business object, a card or a key, else that of types and statuses. The
 * other conditions are tested on the rows that it finds.
 */
function rowFilter({ id, source, cardId, keyId, types, statuses }: TransactionFilter): RowFilter {
  const indexes: Readonly<Record<string, string>>[] = []
  if (id !== undefined) indexes.push({ id })
  if (source) indexes.push({ source_kind: source.kind, source_id: source.id })
  if (cardId !== undefined) indexes.push({ card_id: cardId })
  if (keyId !== undefined) indexes.push({ key_id: keyId })
  const [index, ...others] = indexes
  if (!index) {
    if (!types && !statuses) return {}
    const pairs = (types ?? TRANSACTION_TYPES).flatMap(type =>
      (statuses ?? TRANSACTION_STATUSES).map(status => ({ type, status })),
    )
    return { oneOf: pairs }
  }
  const also: Record<string, readonly string[]> = {}
  for (const [column, value] of others.flatMap(Object.entries<string>)) also[column] = [value]
  // Only transactions of the type `spend` have a card (a check in the database).
  if (types && cardId === undefined) also['type'] = types
  if (statuses) also['status'] = statuses
  return Object.keys(also).length === 0 ? { oneOf: [index] } : { oneOf: [index], also }
}
