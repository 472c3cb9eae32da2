import type { HeaderField } from '@gatewright/kernel'
import { hasField } from './answer.ts'
import type { WireAnswer } from './parts.ts'

/**
 * An existing handler's answer as it is stored. Over the limit, or where the bytes are not UTF-8 text, the body is left
 * out and the status kept: the first caller has the whole answer, a repeat learns that the write was done.
 */
export function capturedAnswer(
  status: number,
  headers: readonly HeaderField[],
  body: Uint8Array | string,
  limitBytes: number,
): WireAnswer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const omitted: WireAnswer = { status, headers, body: '', bodyOmitted: true }
  if (bytes.length > limitBytes) return omitted
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { status, headers, body: text }
  } catch {
    return omitted
  }
}

/** Fields that belong to one message or one client, and never to a repeat of its answer. */
const OWN = /^(?:connection|content-length|date|etag|keep-alive|set-cookie|transfer-encoding)$/i

/** Header fields as one pair each, for storage. */
export function fieldPairs(headers: Readonly<Record<string, unknown>>): HeaderField[] {
  return Object.entries(headers).flatMap(([name, value]): HeaderField[] => {
    if (value === undefined || value === null || OWN.test(name)) return []
    return (Array.isArray(value) ? value : [value]).map(each => [name, String(each)] as const)
  })
}

/** What the end of a run has added to the answer that was captured. */
export function addedFields(given: WireAnswer, answer: WireAnswer): readonly HeaderField[] {
  return answer.headers.filter(([name]) => !hasField(given.headers, name.toLowerCase()))
}

/** The mistake of answering an idempotent operation with a stream: it cannot be kept for a repeat. */
export function streamRefusal(operation: string, stream: object): TypeError {
  const name = stream.constructor?.name ?? 'object'
  return new TypeError(
    `${operation} answered with a stream (${name}): an idempotent operation must answer with a value that can be kept`,
  )
}

/** The mistake of writing a long answer in pieces: it would have to be held in memory. */
export function longAnswer(operation: string, limitBytes: number): TypeError {
  return new TypeError(
    `${operation} wrote more than ${limitBytes} bytes in pieces: an idempotent operation must answer at once`,
  )
}

/** Whether a value is a stream of Node or of the web. */
export function isStream(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const { pipe, getReader } = value as { pipe?: unknown; getReader?: unknown }
  return typeof pipe === 'function' || typeof getReader === 'function'
}
