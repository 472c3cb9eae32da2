/** When a call ends at the latest. */
interface Deadline {
  /** In ms from now. Default: no limit beside `signal`. */
  readonly ms?: number
  /** Ends the call when it aborts. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs a call to another machine, and settles by its deadline whatever that machine and the library between do. At the deadline it rejects: with
 * a `DOMException` named `TimeoutError` after `ms`, with the reason of `signal` if that aborts first. The signal that the call gets aborts at the
 * same instant, so that it can close its connection; how the call ends later is ignored.
 */
export function withDeadline<T>(
  { ms, signal }: Deadline,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    // Neither `AbortSignal.any` nor the signal of the call alone: on Node 20 a garbage collection can cut the link between a signal and the
    // request or the response that it should end. The timer keeps this controller alive.
    const ending = new AbortController()
    const end = (reason: unknown): void => {
      stop()
      reject(reason)
      ending.abort(reason)
    }
    const abort = (): void => end(signal?.reason)
    const late = (): void => end(new DOMException(`timeout after ${ms} ms`, 'TimeoutError'))
    const timer = ms === undefined ? undefined : setTimeout(late, ms)
    const stop = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
    const started = async (): Promise<T> => call(ending.signal)
    void started().then(resolve, reject).finally(stop)
  })
}

/** Reads the body of a response as UTF-8. Rejects with an `Error` when it is longer than `maxBytes`, without reading the rest. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength
    if (length > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
