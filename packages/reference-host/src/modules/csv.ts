/** The columns of a CSV document: their names, in order, and the text of each for an item. Null: an empty cell. */
export type CsvColumns<T> = Readonly<Record<string, (item: T) => string | null>>

/** Writes the first line of a document (RFC 4180). */
export function csvHeader(columns: CsvColumns<never>): string {
  return `${Object.keys(columns).join(',')}\r\n`
}

/** Writes an item as a line of a document. */
export function csvLine<T>(columns: CsvColumns<T>, item: T): string {
  return `${Object.values(columns)
    .map(read => csvCell(read(item)))
    .join(',')}\r\n`
}

/** Writes an amount of cents in units of its currency, such as `12.50`. */
export const csvAmount = (cents: number): string => (cents / 100).toFixed(2)

/** Writes an instant, in UTC. */
export const csvInstant = (at: number): string => new Date(at).toISOString()

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
