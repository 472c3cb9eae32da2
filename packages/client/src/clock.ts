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

/**
 * Runs a call, and settles by its deadline whatever the server and `fetch` do: it rejects with a `TimeoutError` after `ms`, or with the reason
 * of the signal when that aborts. The signal that the call gets aborts at the same instant. A copy of the kernel's, because this package
 * has no dependencies.
 */
export function withDeadline<T>(
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal | undefined },
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController()
  const late = (): void => ending.abort(new DOMException(`timeout after ${ms} ms`, 'TimeoutError'))
  const timer = setTimeout(late, ms)
  const abort = (): void => ending.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  return unlessAborted(call(ending.signal), ending.signal).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  })
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
