import type { Denial, Fault, HeaderField } from '@gatewright/kernel'
import type { WireResponse } from '../ports.ts'
import { StreamedBody } from './streamed-body.ts'
import { statusPhrase } from './status-phrase.ts'

/** An HTTP response as plain data, before a framework sends it. If `body` is undefined, it has no body. */
export interface HttpResponse {
  readonly status: number
  readonly headers: readonly HeaderField[]
  readonly body: unknown
}

/**
 * The shape of error bodies: `plain` is `{ error, message }`, `partner` adds the members of the partner envelope, `problem`
 * is RFC 9457 (`application/problem+json`) with the code as an extension member.
 */
export type ErrorShape = 'plain' | 'partner' | 'problem'

export type RenderedDenial = Pick<
  Denial,
  'code' | 'status' | 'message' | 'field' | 'retryAfterSeconds' | 'details'
> & {
  readonly headers?: readonly HeaderField[]
}

function errorBody(denial: RenderedDenial, shape: ErrorShape): Record<string, unknown> {
  const { code, status, message, field, details = {} } = denial
  const named = field === undefined ? {} : { field }
  // What programs and people read first comes first.
  if (shape === 'problem') {
    // RFC 9457 section 4.2.1: with `about:blank`, the title is the status phrase.
    const title = statusPhrase(status)
    const first = { type: 'about:blank', title, status, detail: message, code, ...named }
    return { ...first, ...details, ...first }
  }
  const first = { error: code, message, ...named }
  const plain = { ...first, ...details, ...first }
  if (shape === 'plain') return plain
  const errors = [{ error: code, code, message, ...named }]
  return { ...plain, ok: false, data: {}, summary: message, errors }
}

/** Renders a denial. Its `reason` is not part of the response; it is for the decision event. */
export function denialResponse(denial: RenderedDenial, shape: ErrorShape): HttpResponse {
  const { status, retryAfterSeconds, headers = [] } = denial
  const added: HeaderField[] = []
  if (retryAfterSeconds !== undefined && !hasField(headers, 'retry-after')) {
    added.push(['Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds)))])
  }
  // RFC 6750 section 3: a 401 always has a challenge, without an error code if no credential was sent.
  if (status === 401 && !hasField(headers, 'www-authenticate')) added.push(['WWW-Authenticate', 'Bearer'])
  if (shape === 'problem') added.push(['Content-Type', 'application/problem+json'])
  return { status, headers: [...headers, ...added], body: errorBody(denial, shape) }
}

/** Renders a fault: 503 with `Retry-After` and a fixed text. The fault's own message is not sent. */
export function faultResponse(fault: Pick<Fault, 'retryAfterSeconds'>, shape: ErrorShape): HttpResponse {
  return denialResponse(
    {
      code: 'service_unavailable',
      status: 503,
      message: 'A service that this request needs is not available. Try again later.',
      retryAfterSeconds: fault.retryAfterSeconds,
    },
    shape,
  )
}

/** Renders an unexpected error: 500 with a fixed text. */
export function errorResponse(shape: ErrorShape): HttpResponse {
  return denialResponse(
    { code: 'internal_error', status: 500, message: 'An unexpected error happened.' },
    shape,
  )
}

/** Whether fields contain a header; `name` is in lower case. */
export function hasField(headers: readonly HeaderField[], name: string): boolean {
  return headers.some(([field]) => field.length === name.length && field.toLowerCase() === name)
}

/** Whether a field can be added to a response that has one of this name: `Link` is a list (RFC 8288 section 3). */
export const isRepeatable = (name: string): boolean => name.toLowerCase() === 'link'

/**
 * Returns those of the given fields that a response lacks. A `Link` field is missing if the response does not have the same
 * link.
 */
export function missingFields(
  headers: readonly HeaderField[],
  fields: readonly HeaderField[],
): readonly HeaderField[] {
  return fields.flatMap(([name, value]): readonly HeaderField[] => {
    if (!isRepeatable(name)) return hasField(headers, name.toLowerCase()) ? [] : [[name, value]]
    const links = withoutLinks(
      value,
      headers.filter(([other]) => isRepeatable(other)),
    )
    return links === '' ? [] : [[name, links]]
  })
}

/**
 * Removes the given fields from the fields of a response. A link is also removed from a `Link` field in which a framework
 * joined several.
 */
export function withoutFields(
  headers: readonly HeaderField[],
  removed: readonly HeaderField[],
): readonly HeaderField[] {
  return headers.flatMap(([name, value]): readonly HeaderField[] => {
    const own = removed.filter(([other]) => other.toLowerCase() === name.toLowerCase())
    if (own.some(([, text]) => text === value)) return []
    if (own.length === 0 || !isRepeatable(name)) return [[name, value]]
    const links = withoutLinks(value, own)
    return links === '' ? [] : [[name, links]]
  })
}

/** Removes links from a `Link` field, which may have several. Each begins with `<`. */
function withoutLinks(value: string, removed: readonly HeaderField[]): string {
  const split = (links: string): string[] => links.split(/,(?=\s*<)/)
  const others = removed.flatMap(([, links]) => split(links)).map(link => link.trim())
  const rest = split(value).filter(link => !others.includes(link.trim()))
  return rest.join(',').trim()
}

/** Adds fields to a response, except fields that it has already. */
export function withFields(response: WireResponse, fields: readonly HeaderField[]): WireResponse {
  if (fields.length === 0) return response
  const added = fields.filter(
    ([name]) => isRepeatable(name) || !hasField(response.headers, name.toLowerCase()),
  )
  return added.length === 0 ? response : { ...response, headers: [...added, ...response.headers] }
}

/** Returns the JSON of a value. Throws a `TypeError` for one that JSON cannot represent, such as a function. */
export function jsonOf(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined)
    throw new TypeError(`the body of a response must be a value that JSON can represent, got ${typeof value}`)
  return text
}

/**
 * Encodes the body of a response: a string and a `StreamedBody` as they are, anything else as JSON. If the response has no `Content-Type`, sets that of JSON.
 * Throws a `TypeError` for a body that JSON cannot represent.
 */
export function wire({ status, headers, body }: HttpResponse): WireResponse {
  if (body === undefined) return { status, headers, body: '' }
  if (body instanceof StreamedBody) return { status, headers, body: '', chunks: body.chunks }
  const withType: readonly HeaderField[] = hasField(headers, 'content-type')
    ? headers
    : [['Content-Type', 'application/json; charset=utf-8'], ...headers]
  return { status, headers: withType, body: typeof body === 'string' ? body : jsonOf(body) }
}
