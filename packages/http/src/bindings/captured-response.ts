import type { HeaderField } from '@gatewright/kernel'
import { hasField } from '../response/http-response.ts'
import type { WireResponse } from '../ports.ts'

/**
 * Makes the stored form of an existing handler's response. Above the limit, or if the bytes are not UTF-8 text, only the status
 * and the header fields are stored: the first request gets the whole response, and a retry learns that the write was done.
 */
export function capturedResponse(
  status: number,
  headers: readonly HeaderField[],
  body: Uint8Array | string,
  limitBytes: number,
): WireResponse {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const omitted: WireResponse = { status, headers, body: '', bodyOmitted: true }
  if (bytes.length > limitBytes) return omitted
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { status, headers, body: text }
  } catch {
    return omitted
  }
}

/** Header fields of one message or one client, which a replay must not repeat. */
const MESSAGE_FIELDS = /^(?:connection|content-length|date|etag|keep-alive|set-cookie|transfer-encoding)$/i

/** Lists header fields as pairs of name and value, for storage. */
export function fieldPairs(headers: Readonly<Record<string, unknown>>): HeaderField[] {
  return Object.entries(headers).flatMap(([name, value]): HeaderField[] => {
    if (value === undefined || value === null || MESSAGE_FIELDS.test(name)) return []
    return (Array.isArray(value) ? value : [value]).map(each => [name, String(each)] as const)
  })
}

/** Returns the header fields that the end of a run added to the captured response. */
export function addedFields(captured: WireResponse, response: WireResponse): readonly HeaderField[] {
  return response.headers.filter(([name]) => !hasField(captured.headers, name.toLowerCase()))
}

/** Makes the error of an idempotent operation that responds with a stream, which cannot be stored for a replay. */
export function streamError(operation: string, stream: object): TypeError {
  const name = stream.constructor?.name ?? 'object'
  return new TypeError(
    `${operation} returned a stream (${name}): an idempotent operation must return a value that can be stored`,
  )
}

/** Makes the error of an idempotent operation that writes a large response in chunks, which would have to be buffered. */
export function sizeError(operation: string, limitBytes: number): TypeError {
  return new TypeError(
    `${operation} wrote more than ${limitBytes} bytes in chunks: an idempotent operation must send a large response with a single call`,
  )
}

/** Whether a value is a stream of Node or of the web. */
export function isStream(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const { pipe, getReader } = value as { pipe?: unknown; getReader?: unknown }
  return typeof pipe === 'function' || typeof getReader === 'function'
}
