import { Fault, type HeaderField } from '@gatewright/kernel'
import {
  denialResponse,
  errorResponse,
  faultResponse,
  wire,
  type HttpResponse,
  type ErrorShape,
} from './http-response.ts'
import type { RequestFacts } from '../request/facts.ts'
import type { DenialWithHeaders } from '../codes.ts'
import type { WireResponse } from '../ports.ts'

/** The outcome of a request, before it is rendered. */
export type Outcome =
  /** The response of a handler, or its replay. */
  | { readonly kind: 'response'; readonly response: HttpResponse }
  | { readonly kind: 'denial'; readonly denial: DenialWithHeaders }
  /** A fault or an unexpected error. */
  | { readonly kind: 'failure'; readonly error: unknown }

/** Renders the outcome of a request as a response. It runs for every outcome, also for replays; responses are stored before they are rendered. */
export type Render = (
  outcome: Outcome,
  context: {
    readonly facts: RequestFacts
    /** The id of the operation; undefined if none was found. */
    readonly operation: string | undefined
    readonly requestId: string
  },
) => HttpResponse

/** Renders a failure: 503 for a fault, 500 for any other error, both with fixed texts. */
export function failureResponse(error: unknown, shape: ErrorShape): HttpResponse {
  return error instanceof Fault ? faultResponse(error, shape) : errorResponse(shape)
}

/** Makes the default renderer: responses are unchanged, denials and failures have the shape that `shapeOf` returns. */
export function plainRender(shapeOf: (facts: RequestFacts) => ErrorShape): Render {
  return (outcome, { facts }) => {
    if (outcome.kind === 'response') return outcome.response
    if (outcome.kind === 'denial') return denialResponse(outcome.denial, shapeOf(facts))
    return failureResponse(outcome.error, shapeOf(facts))
  }
}

// A parameter of the stored media type marks a denial, or a body that the handler returned as a value. It is removed before
// sending.
const DENIAL_MARK = '; gatewright=refusal'
const VALUE = '; gatewright=value'
const JSON_TYPE = 'application/json; charset=utf-8'

/** Returns the form in which an outcome is stored: not rendered, denials in the plain shape. Throws for a body that JSON cannot represent. */
export function storedForm(outcome: Outcome): WireResponse {
  if (outcome.kind === 'failure') return wire(failureResponse(outcome.error, 'plain'))
  if (outcome.kind === 'denial') return marked(wire(denialResponse(outcome.denial, 'plain')), DENIAL_MARK)
  const { response } = outcome
  const encoded = wire(response)
  if (encoded.chunks) throw new TypeError('a response that is sent piece by piece cannot be stored')
  return response.body === undefined || typeof response.body === 'string' ? encoded : marked(encoded, VALUE)
}

/**
 * Returns the outcome that was stored. A stored denial becomes a denial again, so that it is rendered in the shape of the
 * current request. With `parse` (the gate has its own `render`), a body that the handler returned as a value, not as a string,
 * is parsed; otherwise it stays text.
 */
export function replayOutcome(stored: WireResponse, parse: boolean): Outcome {
  const { status, body } = stored
  // The body was too long to store: the replay has the status without the body.
  if (stored.bodyOmitted) {
    const { headers } = withoutMark(stored)
    return { kind: 'response', response: { status, headers, body: undefined } }
  }
  const denialHeaders = unmarked(stored, DENIAL_MARK)
  if (denialHeaders) {
    const { error, message, field, ...details } = JSON.parse(body) as PlainError
    const named = field === undefined ? {} : { field }
    const denial = {
      ok: false,
      code: error,
      status,
      message,
      ...named,
      details,
      headers: denialHeaders,
    } as const
    return { kind: 'denial', denial }
  }
  const valueHeaders = unmarked(stored, VALUE)
  if (valueHeaders)
    return {
      kind: 'response',
      response: { status, headers: valueHeaders, body: parse ? JSON.parse(body) : body },
    }
  return {
    kind: 'response',
    response: { status, headers: stored.headers, body: body === '' ? undefined : body },
  }
}

/** Returns a stored response without the mark of its media type. */
export function withoutMark(stored: WireResponse): WireResponse {
  const headers = unmarked(stored, DENIAL_MARK) ?? unmarked(stored, VALUE)
  return headers ? wire({ ...stored, headers }) : stored
}

interface PlainError {
  readonly error: string
  readonly message: string
  readonly field?: string
}

function marked(response: WireResponse, mark: string): WireResponse {
  const headers = response.headers.map(
    ([name, value]): HeaderField => [name, isType(name) ? value + mark : value],
  )
  return { ...response, headers }
}

/** Returns the header fields without the mark; undefined if they do not have it. */
function unmarked({ headers }: WireResponse, mark: string): readonly HeaderField[] | undefined {
  if (!headers.some(([name, value]) => isType(name) && value.endsWith(mark))) return undefined
  return headers.flatMap(([name, value]): HeaderField[] => {
    const own = isType(name) ? value.slice(0, -mark.length) : value
    return isType(name) && own === JSON_TYPE ? [] : [[name, own]]
  })
}

const isType = (name: string): boolean => name.toLowerCase() === 'content-type'
