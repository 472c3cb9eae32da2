import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Line } from './arithmetic.ts'
import { ONCE, reportMissed } from './extent.ts'
import type { Ours, Peer, Result } from './harness.ts'

/** Below this much CPU in one sample, the clock's own steps and the garbage collector blur the figure. */
const SHORT_SAMPLE_MICROS = 50_000

/** A figure with as many digits as mean something. */
export const digits = (value: number): string => value.toFixed(value < 100 ? 2 : 0)

function row(line: Line & Ours & Peer): string[] {
  const { median, low, high } = line.ratio
  const bar = line.minRatio
    ? `>= ${digits(line.minRatio)} x`
    : line.atMostMicros
      ? `<= ${line.atMostMicros} µs`
      : ''
  const ratio = `${digits(median)} x`
  return [
    line.name,
    digits(line.cpuMicros),
    ratio,
    `${digits(low)} .. ${digits(high)}`,
    digits(line.wallMicros),
    bar,
  ]
}

/** Rows of cells as lines whose columns are aligned; `names` are the columns that start at the left. */
export function columns(rows: readonly (readonly string[])[], names: readonly number[]): string[] {
  const count = Math.max(...rows.map(cells => cells.length))
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map(cells => cells[column]?.length ?? 0)),
  )
  const align = (cell: string, column: number): string => {
    const width = widths[column] as number
    return names.includes(column) ? cell.padEnd(width) : cell.padStart(width)
  }
  return rows.map(cells => `  ${cells.map(align).join('  ')}`.trimEnd())
}

/** The result as text: one line per side, then what the control says. */
export function table(result: Result): string {
  const { title, operations, rounds, ours, control, peers } = result
  const lines = [
    ['', 'CPU µs', 'ratio', 'low .. high', 'wall µs', 'bar'],
    ...[ours, control, ...peers].map(row),
  ]
  const { low, high } = control.ratio
  const notes = [`A/A spread ${digits(low)} .. ${digits(high)}: a ratio inside it is no difference`]
  if (ours.cpuMicros * operations < SHORT_SAMPLE_MICROS)
    notes.push('samples are short: raise the number of operations')
  return [
    `${title} (${rounds} rounds of ${operations}; ratio = CPU / ours, median of rounds)`,
    ...columns(lines, [0]),
    ...notes.map(note => `  ${note}`),
  ].join('\n')
}

/**
 * Prints the table and the missed bars, which make the process exit with 1, and writes `build/bench/<title>.json`. Where
 * benches run once, nothing is compared or written.
 */
export function printAndSave(result: Result): void {
  console.log(table(result))
  for (const text of result.missed) reportMissed(text)
  console.log()
  if (!ONCE) save(result)
}

function save(result: Result): void {
  const directory = join('build', 'bench')
  mkdirSync(directory, { recursive: true })
  const name = result.title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  const machine = { node: process.version, cpu: cpus()[0]?.model, at: new Date().toISOString() }
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify({ ...result, machine }, null, 2)}\n`)
}
