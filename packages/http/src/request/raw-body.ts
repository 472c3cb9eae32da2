import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { allow, type Verdict } from '@gatewright/kernel'
import getRawBody from 'raw-body'
import { deny, type RequestDenial } from '../codes.ts'

/**
 * Reads the bytes of a body as they were sent. Nothing may have read the stream before. Denials: `payload_too_large` above
 * `limitBytes` (the rest is discarded, so the connection stays usable), `invalid_request` if the body ends early or its
 * length differs from `Content-Length`.
 */
export async function readRawBody(
  request: Readable & { readonly headers: IncomingHttpHeaders },
  limitBytes: number,
): Promise<Verdict<Uint8Array, RequestDenial>> {
  try {
    const length = request.headers['content-length']
    return allow(
      await getRawBody(request, { limit: limitBytes, ...(length === undefined ? {} : { length }) }),
    )
  } catch (error) {
    request.resume()
    const { type } = error as { type?: string }
    if (type === 'entity.too.large') {
      return deny('payload_too_large', `the body must be at most ${limitBytes} bytes`)
    }
    if (type === undefined) throw error
    return deny('invalid_request', 'the body ended early, or its length differs from Content-Length', {
      field: 'body',
    })
  }
}
