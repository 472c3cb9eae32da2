import { STATUS_CODES } from 'node:http'
import type { Denial, Fault, HeaderField } from '@gatewright/kernel'
import type { WireAnswer } from './parts.ts'

/** An answer in plain data, before a framework sends it. A body of `undefined` is no body. */
export interface Answer {
  readonly status: number
  readonly headers: readonly HeaderField[]
  readonly body: unknown
}

/**
 * Which error object a caller expects: `plain` is `{ error, message }`, `partner` wraps it in the envelope too,
 * `problem` is RFC 9457 (`application/problem+json`) with the code as an extension member.
 */
export type ErrorShape = 'plain' | 'partner' | 'problem'

type Refusal = Pick<Denial, 'code' | 'status' | 'message' | 'field' | 'retryAfterSeconds' | 'details'> & {
  readonly headers?: readonly HeaderField[]
}

function errorBody(denial: Refusal, shape: ErrorShape): Record<string, unknown> {
  const { code, status, message, field, details } = denial
  const named = field === undefined ? {} : { field }
  if (shape === 'problem') {
    // RFC 9457 section 4.2.1: with `about:blank`, the title is the status phrase.
    const title = STATUS_CODES[status] ?? 'Error'
    return { ...details, ...named, type: 'about:blank', title, status, detail: message, code }
  }
  const plain = { ...details, error: code, message, ...named }
  if (shape === 'plain') return plain
  const errors = [{ error: code, code, message, ...named }]
  return { ...plain, ok: false, data: {}, summary: message, errors }
}

/** Renders an expected "no". `reason` stays behind: it is for the decision event. */
export function denialAnswer(denial: Refusal, shape: ErrorShape): Answer {
  const { status, retryAfterSeconds, headers = [] } = denial
  const added: HeaderField[] = []
  if (retryAfterSeconds !== undefined && !hasField(headers, 'retry-after')) {
    added.push(['Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds)))])
  }
  // RFC 6750 section 3: a 401 always carries a challenge; with no error code when no credential was sent.
  if (status === 401 && !hasField(headers, 'www-authenticate')) added.push(['WWW-Authenticate', 'Bearer'])
  if (shape === 'problem') added.push(['Content-Type', 'application/problem+json'])
  return { status, headers: [...headers, ...added], body: errorBody(denial, shape) }
}

/** Renders a broken world: 503 with `Retry-After` and a fixed text, whatever the fault says. */
export function faultAnswer(fault: Pick<Fault, 'retryAfterSeconds'>, shape: ErrorShape): Answer {
  return denialAnswer(
    {
      code: 'service_unavailable',
      status: 503,
      message: 'a service this request needs is not available: try again later',
      retryAfterSeconds: fault.retryAfterSeconds,
    },
    shape,
  )
}

/** Renders an unexpected error: 500 with a fixed text. */
export function errorAnswer(shape: ErrorShape): Answer {
  return denialAnswer({ code: 'internal_error', status: 500, message: 'an unexpected error happened' }, shape)
}

/** Whether fields name a header, given in lower case. */
export function hasField(headers: readonly HeaderField[], name: string): boolean {
  return headers.some(([held]) => held.length === name.length && held.toLowerCase() === name)
}

/** Adds fields to an answer; where it has one of that name already, its own stays. */
export function withFields(answer: WireAnswer, fields: readonly HeaderField[]): WireAnswer {
  const added = fields.filter(([name]) => !hasField(answer.headers, name.toLowerCase()))
  return added.length === 0 ? answer : { ...answer, headers: [...added, ...answer.headers] }
}

/** Writes an answer's body as JSON, a text as it is; a header of the answer may name a more exact media type. */
export function wire({ status, headers, body }: Answer): WireAnswer {
  if (body === undefined) return { status, headers, body: '' }
  const typed: readonly HeaderField[] = hasField(headers, 'content-type')
    ? headers
    : [['Content-Type', 'application/json; charset=utf-8'], ...headers]
  return { status, headers: typed, body: typeof body === 'string' ? body : JSON.stringify(body) }
}
