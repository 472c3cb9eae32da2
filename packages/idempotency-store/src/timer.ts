import { performance } from 'node:perf_hooks'

/** How waiters wait, so that a test needs no sleep. */
export interface Timer {
  /** Milliseconds on a clock that is never set back. */
  now(): number
  /** Resolves after `ms`, or as soon as `stop` is aborted. */
  sleep(ms: number, stop: AbortSignal): Promise<void>
}

/** Node's own timers. A sleeping waiter keeps the process alive, since a request is waiting for it. */
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

/** Waits for `ended` or for `ms`, whichever is first; undefined when it was the time. */
export async function waitFor<T>(
  timer: Timer,
  ms: number,
  ended?: Promise<T | undefined>,
): Promise<T | undefined> {
  const stop = new AbortController()
  const slept = timer.sleep(ms, stop.signal).then(() => undefined)
  try {
    return await (ended ? Promise.race([ended, slept]) : slept)
  } finally {
    stop.abort()
  }
}
