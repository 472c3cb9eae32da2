/** What one operation cost in one round, in microseconds. */
export interface Sample {
  /** User and system time of the measured process, its thread pool included: the figure. */
  readonly cpuMicros: number
  /** Elapsed time: a side note, because other processes of the machine are in it. */
  readonly wallMicros: number
}

/** The middle of a series, and how far it spread. */
export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** One row of a result. `ratio` is its CPU divided by ours, round by round: above 1, ours is cheaper. */
export interface Line {
  readonly name: string
  readonly cpuMicros: number
  readonly wallMicros: number
  /** The least CPU of any round: on a busy machine nearer to the truth, since others only add to it. */
  readonly leastMicros: number
  readonly ratio: Spread
  /** Its elapsed time divided by ours, likewise. */
  readonly wallRatio: Spread
}

/** The middle value, or the mean of the middle two. Throws on an empty series or one that holds a non-number. */
export function median(values: readonly number[]): number {
  if (values.length === 0 || values.some(Number.isNaN)) throw new TypeError('no median of nothing or NaN')
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] as number) + upper) / 2
}

/** Median, smallest and largest. */
export function spread(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) }
}

/**
 * Turns rounds into lines. Each round holds one sample per name, in the order of `names`; the first is ours.
 * The ratio is taken inside each round and its median over the rounds, so that a machine that slows down half
 * way hurts both sides of a ratio alike. (The ratio of two medians would not have that property.)
 */
export function summarise(names: readonly string[], rounds: readonly (readonly Sample[])[]): Line[] {
  return names.map((name, column) => {
    const of = (what: keyof Sample) => {
      const values = rounds.map(round => round[column]?.[what] ?? NaN)
      const ratios = values.map((value, index) => value / (rounds[index]?.[0]?.[what] ?? NaN))
      return { middle: median(values), least: Math.min(...values), ratio: spread(ratios) }
    }
    const [cpu, wall] = [of('cpuMicros'), of('wallMicros')]
    return {
      name,
      cpuMicros: cpu.middle,
      wallMicros: wall.middle,
      leastMicros: cpu.least,
      ratio: cpu.ratio,
      wallRatio: wall.ratio,
    }
  })
}

/** The order of one round: there on even rounds, back on odd ones, so that no one always follows the same one. */
export function orderOfRound(round: number, count: number): number[] {
  const order = Array.from({ length: count }, (_, index) => index)
  return round % 2 === 0 ? order : order.toReversed()
}
