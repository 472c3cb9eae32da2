import type { Clock, EpochMs } from '../clock.ts'

/** A clock that moves only when told. */
export interface ManualClock extends Clock {
  /** Moves by `ms`, which may be negative. */
  advance(ms: number): void
  /** Jumps to an instant. */
  set(now: EpochMs): void
}

/** Starts a manual clock, by default at 2026-01-01T00:00:00Z. */
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
