/** How waiting requests measure time and sleep. Tests replace it. */
export interface Timer {
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** Resolves after `ms`, or as soon as `stop` is aborted. */
  sleep(ms: number, stop: AbortSignal): Promise<void>
}

/** Uses the timers of the runtime. A sleep keeps the process alive, because a request is waiting. */
export const nodeTimer: Timer = {
  now: () => performance.now(),
  sleep: (ms, stop) =>
    new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer)
        stop.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      stop.addEventListener('abort', done)
    }),
}

/** Calls `work` with a promise that resolves after `ms`. Stops the timer when `work` has ended. */
export async function within<T>(
  timer: Timer,
  ms: number,
  work: (timeUp: Promise<void>) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  try {
    return await work(timer.sleep(ms, stop.signal))
  } finally {
    stop.abort()
  }
}

/**
 * Waits for `ended`, at most `ms`. Resolves to its value, or to undefined when the time is over or `stop` was aborted. Aborts
 * `stop` at the end.
 */
export async function waitFor<T>(
  timer: Timer,
  ms: number,
  stop: AbortController,
  ended?: Promise<T | undefined>,
): Promise<T | undefined> {
  const slept = timer.sleep(ms, stop.signal).then(() => undefined)
  try {
    return await (ended ? Promise.race([ended, slept]) : slept)
  } finally {
    stop.abort()
  }
}
