import type { Clock, EpochMs } from '../clock.ts'

/** A clock that a test moves. */
export interface ManualClock extends Clock {
  /** Moves the clock by `ms`, which may be negative. */
  advance(ms: number): void
  /** Sets the clock to an instant. */
  set(now: EpochMs): void
}

/** Makes a manual clock that starts at `start`, by default 2026-01-01T00:00:00Z. */
export function manualClock(start: EpochMs = 1_767_225_600_000): ManualClock {
  let now = start
  return {
    now: () => now,
    advance: ms => {
      now += ms
    },
    set: to => {
      now = to
    },
  }
}
