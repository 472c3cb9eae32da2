import { Fault, type Denial, type HeaderField } from '@gatewright/kernel'
import { denialAnswer, errorAnswer, faultAnswer, wire, type Answer, type ErrorShape } from './answer.ts'
import type { RequestFacts } from '../request/facts.ts'
import type { WireAnswer } from '../ports.ts'

/** A denial with the header fields of its answer. */
export type DenialWithHeaders = Denial & { readonly headers?: readonly HeaderField[] }

/** The outcome of a request, before it is rendered. */
export type Outcome =
  /** The answer of a handler, or its replay. */
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'denial'; readonly denial: DenialWithHeaders }
  /** A fault or an unexpected error. */
  | { readonly kind: 'failure'; readonly error: unknown }

/** Renders the outcome of a request as an answer. It runs for every outcome, also for replays; answers are stored before they are rendered. */
export type Render = (
  outcome: Outcome,
  context: {
    readonly facts: RequestFacts
    /** The id of the operation; undefined if none was found. */
    readonly operation: string | undefined
    readonly requestId: string
  },
) => Answer

/** Renders a failure: 503 for a fault, 500 for any other error, both with fixed texts. */
export function failureAnswer(error: unknown, shape: ErrorShape): Answer {
  return error instanceof Fault ? faultAnswer(error, shape) : errorAnswer(shape)
}

/** Makes the default renderer: answers are unchanged, denials and failures have the shape that `shapeOf` returns. */
export function plainRender(shapeOf: (facts: RequestFacts) => ErrorShape): Render {
  return (outcome, { facts }) => {
    if (outcome.kind === 'answer') return outcome.answer
    if (outcome.kind === 'denial') return denialAnswer(outcome.denial, shapeOf(facts))
    return failureAnswer(outcome.error, shapeOf(facts))
  }
}

// A stored denial, or a body that was a value, is marked by a parameter of its media type. The mark is removed before sending.
const REFUSAL = '; gatewright=refusal'
const VALUE = '; gatewright=value'
const JSON_TYPE = 'application/json; charset=utf-8'

/** Returns the form in which an outcome is stored: not rendered, denials in the plain shape. Throws for a body that JSON cannot represent. */
export function storedForm(outcome: Outcome): WireAnswer {
  if (outcome.kind === 'failure') return wire(failureAnswer(outcome.error, 'plain'))
  if (outcome.kind === 'denial') return marked(wire(denialAnswer(outcome.denial, 'plain')), REFUSAL)
  const { answer } = outcome
  const encoded = wire(answer)
  return answer.body === undefined || typeof answer.body === 'string' ? encoded : marked(encoded, VALUE)
}

/**
 * Returns the outcome that was stored. A stored denial becomes a denial again, so that it is rendered in the shape of the
 * current request. With `parse` (the gate has its own `render`), a body that the handler returned as a value, not as a string,
 * is parsed; otherwise it stays text.
 */
export function replayOutcome(stored: WireAnswer, parse: boolean): Outcome {
  const { status, body } = stored
  // The body was too long to store: the replay has the status without the body.
  if (stored.bodyOmitted) {
    const { headers } = withoutMark(stored)
    return { kind: 'answer', answer: { status, headers, body: undefined } }
  }
  const denialHeaders = unmarked(stored, REFUSAL)
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
      kind: 'answer',
      answer: { status, headers: valueHeaders, body: parse ? JSON.parse(body) : body },
    }
  return { kind: 'answer', answer: { status, headers: stored.headers, body: body === '' ? undefined : body } }
}

/** Returns a stored response without the mark of its media type. */
export function withoutMark(stored: WireAnswer): WireAnswer {
  const headers = unmarked(stored, REFUSAL) ?? unmarked(stored, VALUE)
  return headers ? wire({ ...stored, headers }) : stored
}

interface PlainError {
  readonly error: string
  readonly message: string
  readonly field?: string
}

function marked(answer: WireAnswer, mark: string): WireAnswer {
  const headers = answer.headers.map(
    ([name, value]): HeaderField => [name, isType(name) ? value + mark : value],
  )
  return { ...answer, headers }
}

/** Returns the header fields without the mark; undefined if they do not have it. */
function unmarked({ headers }: WireAnswer, mark: string): readonly HeaderField[] | undefined {
  if (!headers.some(([name, value]) => isType(name) && value.endsWith(mark))) return undefined
  return headers.flatMap(([name, value]): HeaderField[] => {
    const own = isType(name) ? value.slice(0, -mark.length) : value
    return isType(name) && own === JSON_TYPE ? [] : [[name, own]]
  })
}

const isType = (name: string): boolean => name.toLowerCase() === 'content-type'
