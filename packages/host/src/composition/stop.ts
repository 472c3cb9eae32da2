import { inTime } from '../storage/in-time.ts'

/**
 * When each step of a stop ends at the latest, in ms from the end of the drain: requests, writes whose clients have left and background
 * work; then what is still in memory is stored; then the stores are closed.
 */
const ENDS_MS = { work: 8000, memory: 9000, stores: 10_000 }

type Step = keyof typeof ENDS_MS

/** The steps of a host that stops. */
interface Stop {
  /** How much time a step has left, in ms. */
  left(step: Step): number
  /** Waits for the parts of a step, at most to its end. A part that fails or is late is reported. Never rejects. */
  run(step: Step, parts: readonly Promise<unknown>[]): Promise<void>
}

/** Begins a stop: the time of its steps counts from now on. */
export function beginStop(report: (error: unknown) => void): Stop {
  const beganAt = performance.now()
  const left = (step: Step): number => Math.max(beganAt + ENDS_MS[step] - performance.now(), 0)
  return {
    left,
    async run(step, parts) {
      const ended = Promise.all(parts.map(part => part.catch(report)))
      const late = (): Error =>
        new Error(`the stop cuts off what did not end within ${ENDS_MS[step] / 1000} s: ${step}`)
      await inTime(ended, left(step), late).catch(report)
    },
  }
}
