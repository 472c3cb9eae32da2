import { orderOfRound, summarise, type Line, type Sample } from './arithmetic.ts'
import { extent } from './extent.ts'
import { printAndSave } from './report.ts'

/** What every side of a comparison has. */
export interface Side {
  readonly name: string
}

/** Ours. With `atMostMicros`, CPU per operation above it is a missed bar. */
export interface Ours {
  readonly atMostMicros?: number
}

/**
 * A peer. `minRatio` is the bar: the least median ratio of CPU times, peer / ours. 2 means that the peer must need at least twice
 * our time, 1 / 1.2 that we may need at most 1.2 times the peer's.
 */
export interface Peer {
  readonly minRatio?: number
}

/** How often to measure. */
export interface Plan {
  /** Measured rounds; each samples ours, ours again and every peer once. Default 10. */
  readonly rounds?: number
  /** Rounds whose samples are thrown away first. Default 2. */
  readonly warmups?: number
  /** What happens with the result. Default: print it, write its JSON, exit code 1 when a bar is missed. */
  readonly report?: (result: Result) => void
}

/** What a comparison found. `control` is ours against ours: a ratio within its spread means nothing. */
export interface Result {
  readonly title: string
  /** Operations (or requests) per sample. */
  readonly operations: number
  readonly rounds: number
  readonly ours: Line & Ours
  readonly control: Line
  readonly peers: readonly (Line & Peer)[]
  /** The bars that were not reached, in words; a bench with any exits 1. */
  readonly missed: readonly string[]
}

/** One operation. `index` counts from 0 in every sample, so that all sides and rounds get the same inputs. */
type Run = (index: number) => unknown

/** A side that runs in this process. `before` runs ahead of each sample, unmeasured. */
interface Operation extends Side {
  readonly run: Run
  readonly before?: () => unknown
}

/** A comparison in this process. */
export interface Comparison extends Plan {
  readonly ours: Operation & Ours
  readonly peers: readonly (Operation & Peer)[]
  /** Operations per sample: fixed, so that all sides do the same work. Aim at 0.1 to 1 s of CPU per sample. */
  readonly operations: number
  /** Operations in flight at once, for those that return a promise. Default 1. */
  readonly concurrency?: number
}

/** Runs `operations` operations and divides what the process spent on them. Garbage of others goes first. */
async function sample(side: Operation, operations: number, concurrency: number): Promise<Sample> {
  await side.before?.()
  globalThis.gc?.()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < operations) {
      const response = side.run(next++)
      // Only a promise is waited for: `await` on a plain value would cost more than many an operation.
      if (response instanceof Promise) await response
    }
  }
  const started = performance.now()
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: concurrency }, work))
  const { user, system } = process.cpuUsage(before)
  const wallMicros = ((performance.now() - started) * 1000) / operations
  return { cpuMicros: (user + system) / operations, wallMicros }
}

/**
 * Compares operations in this process: ours, ours again (the A/A control) and the peers take turns, round by
 * round. Prints a table, writes `build/bench/<title>.json`, sets exit code 1 when a bar is missed.
 */
export async function compare(title: string, comparison: Comparison): Promise<Result> {
  const { ours, peers, concurrency = 1 } = comparison
  const operations = extent(comparison.operations, 20)
  return alternate(title, {
    ...comparison,
    operations,
    sample: side => sample(side, operations, concurrency),
    ours,
    peers,
  })
}

/** What a comparison of any kind names: its sides and the work of one sample. */
export interface ComparisonSides<S extends Side> {
  readonly ours: S & Ours
  readonly peers: readonly (S & Peer)[]
  readonly operations: number
}

/** The rounds behind `compare`: takes turns, with whatever takes one sample of a side. */
export async function alternate<S extends Side>(
  title: string,
  given: Plan & ComparisonSides<S> & { readonly sample: (side: S) => Promise<Sample> },
): Promise<Result> {
  const { ours, peers, report = printAndSave } = given
  const rounds = extent(given.rounds ?? 10, 1)
  const warmups = extent(given.warmups ?? 2, 0)
  const sides: readonly S[] = [ours, ours, ...peers]
  const measured: Sample[][] = []
  for (let round = -warmups; round < rounds; round++) {
    const samples: Sample[] = []
    for (const index of orderOfRound(round, sides.length))
      samples[index] = await given.sample(sides[index] as S)
    if (round >= 0) measured.push(samples)
  }
  const result = resultOf(title, given, measured)
  report(result)
  return result
}

/** Makes a result of rounds that each hold a sample of ours, of ours again and of every peer. */
export function resultOf<S extends Side>(
  title: string,
  { ours, peers, operations }: ComparisonSides<S>,
  measured: readonly (readonly Sample[])[],
): Result {
  const names = [ours.name, `${ours.name} (again)`, ...peers.map(peer => peer.name)]
  const [ourLine, control, ...peerLines] = summarise(names, measured) as [Line, Line, ...Line[]]
  const missed: string[] = []
  const { atMostMicros } = ours
  if (atMostMicros !== undefined && !(ourLine.cpuMicros <= atMostMicros)) {
    missed.push(`${ours.name}: ${ourLine.cpuMicros.toFixed(2)} µs, at most ${atMostMicros} wanted`)
  }
  const peersWithBar = peerLines.map((line, index) => {
    const minRatio = peers[index]?.minRatio
    if (minRatio === undefined) return line
    if (!(line.ratio.median >= minRatio)) {
      missed.push(`${line.name}: ${line.ratio.median.toFixed(2)} x ours, at least ${minRatio} wanted`)
    }
    return { ...line, minRatio }
  })
  const ourResult = atMostMicros === undefined ? ourLine : { ...ourLine, atMostMicros }
  return { title, operations, rounds: measured.length, ours: ourResult, control, peers: peersWithBar, missed }
}
