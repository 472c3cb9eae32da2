import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { allow, type Verdict } from '@gatewright/kernel'
import { deny, type RequestDenial } from '../codes.ts'

/**
 * Reads the bytes of a body as they were sent. Nothing may have read the stream before. Denials: `payload_too_large` above
 * `limitBytes` (the rest is discarded, so the connection stays usable), `invalid_request` if the body ends early or its
 * length differs from `Content-Length`. Throws a `TypeError` for a stream that gives text instead of bytes, and the error of a stream that fails.
 */
export async function readRawBody(
  request: Readable & { readonly headers: IncomingHttpHeaders },
  limitBytes: number,
): Promise<Verdict<Uint8Array, RequestDenial>> {
  if (request.readableEncoding)
    throw new TypeError('readRawBody: the request gives text: do not call its setEncoding')
  const { 'content-length': expected } = request.headers
  let chunks: Chunks = 'too large'
  try {
    if (!(Number(expected) > limitBytes)) chunks = await readChunks(request, limitBytes)
  } finally {
    // Discards what is left.
    request.resume()
  }
  if (chunks === 'too large') return deny('payload_too_large', `the body must be at most ${limitBytes} bytes`)
  const bytes = chunks === 'incomplete' ? undefined : Buffer.concat(chunks)
  if (bytes && (expected === undefined || Number(expected) === bytes.length)) return allow(bytes)
  return deny('invalid_request', 'the body ended early, or its length differs from Content-Length', {
    field: 'body',
  })
}

type Chunks = readonly Uint8Array[] | 'too large' | 'incomplete'

/** Reads a stream to its end, or until it exceeds the limit, or its client is gone. */
function readChunks(stream: Readable, limitBytes: number): Promise<Chunks> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const listeners = {
      data(chunk: Uint8Array): void {
        length += chunk.length
        chunks.push(chunk)
        if (length > limitBytes) end('too large')
      },
      end: () => end(chunks),
      // A request that is cut off emits this before `error`, which it emits only if somebody listens.
      aborted: () => end('incomplete'),
      close: () => end('incomplete'),
      error(error: Error): void {
        stop()
        reject(error)
      },
    }
    const stop = (): void => {
      for (const [event, listener] of Object.entries(listeners)) stream.off(event, listener)
    }
    const end = (result: Chunks): void => {
      stop()
      resolve(result)
    }
    // It has ended, or its client is gone: no event will come. `readable` does not say so: adapters of serverless platforms set it to false
    // on requests whose bytes nobody has read.
    if (stream.readableEnded || stream.destroyed || stream.errored) return end('incomplete')
    for (const [event, listener] of Object.entries(listeners)) stream.on(event, listener)
  })
}
