import type { EpochMs } from '@gatewright/kernel'
import { cellText, fieldLines, kindOf, shownCell, styleOf, type Column } from './cell.ts'
import { cut, displayWidth, styled, wrap, type Terminal } from '../observability/terminal.ts'

/** Rows of values below columns. */
export interface Table {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly unknown[])[]
  /** Heads of columns that are left out on a terminal that is too narrow, in this order. */
  readonly dropFirst?: readonly string[]
}

/** Values by the names of their members, one below the other. */
export type Fields = Readonly<Record<string, unknown>>

/** The minimum width of a text that is cut. */
const LEAST = 8
const GAP = '  '

/** A column with the texts of its cells, the head first. */
interface ShownColumn extends Column {
  readonly cells: readonly string[]
  readonly width: number
}

/**
 * Formats rows with aligned columns. On a terminal that is too narrow, columns of `dropFirst` are left out, and then the widest texts
 * are cut, but never an id. Where even that is too wide, each row becomes a block of fields.
 */
export function tableLines(table: Table, terminal: Terminal | undefined, now: EpochMs): string[] {
  const shown = table.columns.map((column, index) => {
    const values = table.rows.map(row => row[index])
    const texts = values.map(value => (terminal ? shownCell(value, column, now) : cellText(value)))
    const cells = [column.head, ...texts]
    return { ...column, cells, width: Math.max(...cells.map(displayWidth)) }
  })
  const available = terminal?.width || Infinity
  const { kept, dropped } = drop(shown, table.dropFirst ?? [], available)
  const fitting = narrow(kept, available)
  if (fitting === undefined) return blocks(table, terminal, now)
  const lines = ['', ...table.rows].map((_, row) => lineOf(fitting, row, table, terminal))
  if (dropped.length === 0) return lines
  const note = wrap(`Not shown: ${dropped.join(', ')} (--json prints all).`, available)
  return [...lines, ...note.map(line => styled(line, 'dim', terminal))]
}

/** Formats fields, each with its name. On a terminal long values continue below. */
export function fieldTable(fields: Fields, terminal: Terminal | undefined, now: EpochMs): string[] {
  const entries = Object.entries(fields)
  const names = entries.map(([name]) => (terminal ? name.replace(/Cents$/, '') : name))
  const indent = Math.max(...names.map(displayWidth)) + GAP.length
  const width = (terminal?.width || Infinity) - indent
  return entries.flatMap(([name, value], index) => {
    const lines = terminal ? fieldLines(value, name, Math.max(width, LEAST), now) : [cellText(value)]
    return lines.map((line, at) => {
      const label = styled((at === 0 ? (names[index] as string) : '').padEnd(indent), 'dim', terminal)
      return `${label}${styled(line, styleOf(value, kindOf(name)), terminal)}`.trimEnd()
    })
  })
}

function totalWidth(columns: readonly ShownColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width, 0) + GAP.length * (columns.length - 1)
}

function drop(
  columns: readonly ShownColumn[],
  order: readonly string[],
  available: number,
): { readonly kept: readonly ShownColumn[]; readonly dropped: readonly string[] } {
  const dropped: string[] = []
  let kept = columns
  for (const head of order) {
    if (totalWidth(kept) <= available) break
    kept = kept.filter(column => column.head !== head)
    dropped.push(head)
  }
  return { kept, dropped }
}

/** Cuts the widest texts; undefined if the columns do not fit. */
function narrow(columns: readonly ShownColumn[], available: number): readonly ShownColumn[] | undefined {
  const cuttable = new Set(columns.filter(({ kind }) => kind === 'text'))
  const widths = new Map(columns.map(column => [column, column.width]))
  for (let excess = totalWidth(columns) - available; excess > 0; excess--) {
    const [widest] = [...cuttable].toSorted((a, b) => (widths.get(b) ?? 0) - (widths.get(a) ?? 0))
    const width = widest && widths.get(widest)
    if (width === undefined || width <= LEAST) return undefined
    widths.set(widest as ShownColumn, width - 1)
  }
  return columns.map(column => ({ ...column, width: widths.get(column) ?? column.width }))
}

function lineOf(
  columns: readonly ShownColumn[],
  row: number,
  table: Table,
  terminal: Terminal | undefined,
): string {
  const cells = columns.map(({ cells: texts, width, kind, head }) => {
    const text = cut(texts[row] as string, width)
    const space = ' '.repeat(width - displayWidth(text))
    const value = table.rows[row - 1]?.[table.columns.findIndex(column => column.head === head)]
    const colored = styled(text, row === 0 ? 'dim' : styleOf(value, kind), terminal)
    return terminal && kind === 'cents' ? `${space}${colored}` : `${colored}${space}`
  })
  return cells.join(GAP).trimEnd()
}

function blocks({ columns, rows }: Table, terminal: Terminal | undefined, now: EpochMs): string[] {
  const indent = Math.max(...columns.map(({ head }) => head.length)) + GAP.length
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...columns.map((column, at) => {
      const text = shownCell(row[at], column, now)
      const label = styled(column.head.padEnd(indent), 'dim', terminal)
      return `${label}${styled(text, styleOf(row[at], column.kind), terminal)}`
    }),
  ])
}
