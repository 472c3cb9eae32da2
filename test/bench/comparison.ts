import type { Result } from './harness.ts'
import { columns, digits } from './report.ts'

/** The figures of one bench that are kept to compare later runs with. */
export interface KeptResult {
  readonly title: string
  /** Our CPU per operation, in microseconds. It depends on the machine. */
  readonly cpuMicros: number
  /** The lowest and highest ratio of ours to ours. */
  readonly control: readonly [low: number, high: number]
  /** How many times a peer's CPU ours is. */
  readonly peers: Readonly<Record<string, number>>
}

/** Picks the figures to keep from what benches wrote. Leaves out other figures, such as those of a flood. */
export function keptResults(written: readonly unknown[]): KeptResult[] {
  return written
    .filter((each): each is Result => (each as Partial<Result>).ours !== undefined)
    .map(each => keptResult(each))
}

function keptResult({ title, ours, control, peers }: Result): KeptResult {
  const rounded = (value: number): number => Number(value.toPrecision(3))
  return {
    title,
    cpuMicros: rounded(ours.cpuMicros),
    control: [rounded(control.ratio.low), rounded(control.ratio.high)],
    peers: Object.fromEntries(peers.map(({ name, ratio }) => [name, rounded(1 / ratio.median)])),
  }
}

/** How two runs of one bench differ against one peer. `change` above 1: ours got slower. */
interface Difference {
  readonly title: string
  readonly peer: string
  readonly last: number
  readonly now: number
  readonly change: number
  /** Whether the change is larger than ours differs from ours in both runs, and than 5 %. */
  readonly isReal: boolean
}

/**
 * Compares the benches that both runs have, peer by peer. Ratios to a peer of the same run are compared and not times, since two runs are
 * seldom on the same machine in the same state. A bench without peers is compared by its time.
 */
export function compareResults(last: readonly KeptResult[], now: readonly KeptResult[]): Difference[] {
  const lastByTitle = new Map(last.map(result => [result.title, result]))
  return now.flatMap(result => {
    const before = lastByTitle.get(result.title)
    if (!before) return []
    const noise = Math.max(
      0.05,
      ...[before, result].flatMap(({ control: [low, high] }) => [1 - low, high - 1]),
    )
    const difference = (peer: string, [from, to]: readonly [number, number]): Difference => {
      const change = to / from
      const isReal = change > 1 + noise || change < 1 / (1 + noise)
      return { title: result.title, peer, last: from, now: to, change, isReal }
    }
    const peers = Object.entries(result.peers).flatMap(([peer, ratio]) => {
      const from = before.peers[peer]
      return from === undefined ? [] : [difference(peer, [from, ratio])]
    })
    const hasPeers = Object.keys(result.peers).length > 0
    return hasPeers ? peers : [difference('(µs)', [before.cpuMicros, result.cpuMicros])]
  })
}

/** The differences as a table, the largest slow-down first. */
export function differenceTable(differences: readonly Difference[]): string {
  const rows = differences
    .toSorted((a, b) => b.change - a.change)
    .map(({ title, peer, last, now, change, isReal }) => [
      title,
      peer,
      digits(last),
      digits(now),
      digits(change),
      isReal ? (change > 1 ? 'SLOWER' : 'faster') : '',
    ])
  return columns([['', 'ours / peer', 'last', 'now', 'now / last', ''], ...rows], [0, 1, 5]).join('\n')
}
