/** A number in a CSV document, in decimal digits. It is not quoted. */
interface CsvNumber {
  readonly number: string
}

/** The columns of a CSV document: their names, in order, and the content of each for an item. Null: an empty cell. */
export type CsvColumns<T> = Readonly<Record<string, (item: T) => string | CsvNumber | null>>

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
export const csvAmount = (cents: number): CsvNumber => ({ number: (cents / 100).toFixed(2) })

/** Writes an integer. */
export const csvInteger = (value: number): CsvNumber => ({ number: String(value) })

/** Writes an instant, in UTC. */
export const csvInstant = (at: number): string => new Date(at).toISOString()

/**
 * What a spreadsheet takes for the start of a formula, also after spaces and quotes and in full width: at the start of a cell, and
 * behind a character at which it may split one. A spreadsheet splits at the separator of its user's language, such as `;` in German,
 * whatever the file has, and then the quotes of a cell protect nothing. A tab or the end of a line at the start is one, too.
 */
const FORMULA = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[\s"']*[=+\-@＝＋－＠])/gu

/**
 * Writes a cell. Every text is quoted, so that a text of digits stays a text and no separator inside it splits the cell. What a
 * spreadsheet would run as a formula gets an apostrophe before it, so that what somebody else wrote, such as the memo of a payment,
 * stays a text.
 */
function csvCell(value: string | CsvNumber | null): string {
  if (value === null) return ''
  if (typeof value === 'object') return value.number
  return `"${value.replaceAll(FORMULA, "'").replaceAll('"', '""')}"`
}
