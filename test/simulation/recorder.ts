import type { Engine } from './engine.ts'

/** What came of the payments of a run. Figures are of the measured time, unless said otherwise. */
export interface Recorded {
  readonly offeredPerSecond: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** The mean time of the payments that were completed, in ms. */
  readonly mean: number
  /** How many payments were under way, on average over the time. */
  readonly underWay: number
  /** Since the start of the run. */
  readonly arrived: number
  /** Since the start of the run. */
  readonly completed: number
  readonly underWayAtEnd: number
  /** Which share of the payments wrote to two databases. */
  readonly crossShare: number
}

/** Records payments as they arrive and complete. */
export interface Recorder {
  /** Returns the time of the arrival, for `complete`. */
  arrive(): number
  complete(arrivedAt: number, isCross: boolean): void
  /** Starts the measured time. */
  measure(): void
  /** Ends the measured time. */
  end(): Recorded
}

/** Creates a recorder that takes the time from the engine. */
export function createRecorder(engine: Engine): Recorder {
  let arrived = 0
  let completed = 0
  let cross = 0
  let arrivedBefore = 0
  let started = 0
  let area = 0
  let since = 0
  let times: number[] = []
  /** Adds up how many payments were under way since the last change. */
  const addTime = (): void => {
    area += (arrived - completed) * (engine.now() - since)
    since = engine.now()
  }
  return {
    arrive() {
      addTime()
      arrived += 1
      return engine.now()
    },
    complete(arrivedAt, isCross) {
      addTime()
      completed += 1
      times.push(engine.now() - arrivedAt)
      if (isCross) cross += 1
    },
    measure() {
      addTime()
      arrivedBefore = arrived
      started = engine.now()
      area = 0
      cross = 0
      times = []
    },
    end() {
      addTime()
      const ms = engine.now() - started
      const sorted = times.toSorted((a, b) => a - b)
      const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
      return {
        offeredPerSecond: ((arrived - arrivedBefore) * 1000) / ms,
        perSecond: (times.length * 1000) / ms,
        p50: at(0.5),
        p99: at(0.99),
        mean: times.reduce((sum, time) => sum + time, 0) / times.length,
        underWay: area / ms,
        arrived,
        completed,
        underWayAtEnd: arrived - completed,
        crossShare: cross / times.length,
      }
    },
  }
}
