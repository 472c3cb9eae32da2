import type { Transaction } from '@gatewright/host/internal'

/** The columns of an export, in their order. */
const COLUMNS = [
  'id',
  'created_at',
  'updated_at',
  'type',
  'status',
  'direction',
  'amount',
  'amount_cents',
  'currency',
  'description',
  'counterparty',
  'merchant',
  'memo',
  'card_id',
  'key_id',
  'source_kind',
  'source_id',
] as const

/** The first line of an export (RFC 4180). */
export const CSV_HEADER: string = `${COLUMNS.join(',')}\r\n`

/** Writes a transaction as a line of an export. Amounts are never negative: `direction` says whether money left the balance. */
export function csvLine(transaction: Transaction): string {
  const { amountCents, merchant, source } = transaction
  const cells = [
    transaction.id,
    new Date(transaction.createdAt).toISOString(),
    new Date(transaction.updatedAt).toISOString(),
    transaction.type,
    transaction.status,
    transaction.direction,
    (amountCents / 100).toFixed(2),
    String(amountCents),
    'USD',
    transaction.description,
    transaction.counterparty,
    merchant?.name ?? null,
    transaction.memo,
    transaction.cardId,
    transaction.keyId,
    source.kind,
    source.id,
  ]
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** What a spreadsheet takes for the start of a formula, also after spaces and in full width. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u

/**
 * Writes a cell. A text that a spreadsheet would run as a formula gets an apostrophe before it, so that what somebody else wrote, such
 * as the memo of a payment, stays a text.
 */
function csvCell(value: string | null): string {
  if (value === null) return ''
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
