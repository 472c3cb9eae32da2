import type { EpochMs } from '@gatewright/kernel/internal'

/** Rows of cells. The first row is the head. */
export type Table = readonly (readonly string[])[]

/** The minimum width of a column while a wider column can be cut. */
const LEAST = 4
const GAP = '  '

/**
 * Formats rows with aligned columns. If they are wider than `width`, the widest columns are cut, with an ellipsis, so that no
 * line wraps. Control characters become spaces, because a cell may contain text of a client.
 */
export function tableLines(table: Table, width: number = Infinity): string[] {
  const rows = table.map(row => row.map(cell => cell.replace(/\p{Cc}/gu, ' ')))
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map(row => displayWidth(row[column] ?? ''))),
  )
  narrow(widths, width - GAP.length * (widths.length - 1))
  return rows.map(row => {
    const cells = row.map((cell, column) =>
      padded(cut(cell, widths[column] as number), widths[column] as number),
    )
    return cut(cells.join(GAP).trimEnd(), width)
  })
}

/** Makes a table of two columns: name and value of each member of an object. */
export function fieldTable(data: Readonly<Record<string, unknown>>): Table {
  return [['FIELD', 'VALUE'], ...Object.entries(data).map(([name, value]) => [name, cellText(value)])]
}

/** Returns a value as the text of a cell: `-` for null and an empty list, texts of a list with spaces between them. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value.join(' ') || '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Formats an instant (RFC 3339); null for none. */
export function isoOrNull(at: EpochMs | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

function narrow(widths: number[], available: number): void {
  let excess = widths.reduce((sum, width) => sum + width, 0) - available
  for (; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] as number) <= LEAST) return
    widths[widest] = (widths[widest] as number) - 1
  }
}

/** Characters that take two columns of a terminal: East Asian scripts and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const NO_WIDTH = /\p{Mn}|\p{Me}|\p{Cf}/u

function widthOf(character: string): number {
  if (NO_WIDTH.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

function displayWidth(text: string): number {
  let total = 0
  for (const character of text) total += widthOf(character)
  return total
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - displayWidth(text))
}

function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let [kept, used] = ['', 0]
  for (const character of text) {
    used += widthOf(character)
    if (used > width - 1) break
    kept += character
  }
  return `${kept}…`
}
