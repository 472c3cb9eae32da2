import type { EpochMs } from '@gatewright/kernel'

/** One window of one bucket. A point is returned to the window that it was taken from, so never to the bucket's next one. */
export interface CountedWindow {
  /** The requests of this window, those over the limit included. */
  used: number
  /** See `isCurrentWindow`. */
  readonly until: EpochMs
}

/** Counts a request of a bucket, and returns the window that it was counted in. */
export type WindowCounter = (bucket: string, now: EpochMs) => CountedWindow

/** Whether a window is current: while `now < until`, unless the clock was set back so far that the window would last longer than `windowMs`. */
export function isCurrentWindow(
  { until }: Pick<CountedWindow, 'until'>,
  now: EpochMs,
  windowMs: number,
): boolean {
  return now < until && until <= now + windowMs
}

/** How many ended windows a new one removes at most, so that they do not accumulate and no request waits long for it. */
const MAX_SWEPT = 32

/**
 * Makes a counter of this process: fixed windows, each of which begins with its bucket's first request. Windows end by the given times
 * and not by timers, since on Workers a timer ends with its request.
 */
export function createWindowCounter(windowMs: number): WindowCounter {
  /** All windows are equally long, so they end in the order in which they were added. */
  const windows = new Map<string, CountedWindow>()
  const removeEnded = (now: EpochMs): void => {
    let left = MAX_SWEPT
    for (const [bucket, window] of windows) {
      if (isCurrentWindow(window, now, windowMs) || left-- === 0) return
      windows.delete(bucket)
    }
  }
  return (bucket, now) => {
    const known = windows.get(bucket)
    if (known !== undefined && isCurrentWindow(known, now, windowMs)) {
      known.used++
      return known
    }
    removeEnded(now)
    const window = { used: 1, until: now + windowMs }
    // Removed first, so that the new window is the last one.
    windows.delete(bucket)
    windows.set(bucket, window)
    return window
  }
}
