/** The time of a client: what tests replace. */
export interface ClientClock {
  /** Now, in epoch ms. */
  now(): number
  /** Resolves after `ms`. Rejects with the reason of the signal when it aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
}

/** The clock of the machine. */
export const machineClock: ClientClock = {
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        reject(signal?.reason as Error)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end)
        resolve()
      }, ms)
      signal?.addEventListener('abort', end, { once: true })
      if (signal?.aborted) end()
    }),
}

/** Resolves with the promise, unless the signal aborts before: then it rejects with its reason, and the promise goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}
