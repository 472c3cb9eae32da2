import { Fault, type Denial, type HeaderField } from '@gatewright/kernel'
import { denialAnswer, errorAnswer, faultAnswer, wire, type Answer, type ErrorShape } from './answer.ts'
import type { RequestFacts } from './facts.ts'
import type { WireAnswer } from './parts.ts'

/** A denial, which may bring header fields along. */
export type Refusal = Denial & { readonly headers?: readonly HeaderField[] }

/** What a request came to, before it is rendered. */
export type Outcome =
  /** A handler's answer, or an earlier one of the same write. */
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'denial'; readonly denial: Refusal }
  /** A fault, or an error that nobody expected. */
  | { readonly kind: 'failure'; readonly error: unknown }

/** The request that an outcome is of. */
export interface RenderContext {
  readonly facts: RequestFacts
  /** Undefined where no operation was reached. */
  readonly operation: string | undefined
  readonly requestId: string
}

/** Makes the answer that is sent. It runs for every outcome, a replayed one included; what is kept for replays is not rendered. */
export type Render = (outcome: Outcome, context: RenderContext) => Answer

/** Renders a failure: 503 for a fault, 500 for any other, both with fixed texts. */
export function failureAnswer(error: unknown, shape: ErrorShape): Answer {
  return error instanceof Fault ? faultAnswer(error, shape) : errorAnswer(shape)
}

/** The renderer of a gate that is given none: answers as they are, refusals in the shape that the request asks for. */
export function plainRender(shapeOf: (facts: RequestFacts) => ErrorShape): Render {
  return (outcome, { facts }) => {
    if (outcome.kind === 'answer') return outcome.answer
    if (outcome.kind === 'denial') return denialAnswer(outcome.denial, shapeOf(facts))
    return failureAnswer(outcome.error, shapeOf(facts))
  }
}

// How a kept answer says what it was: a parameter of its media type, which is taken off again.
const REFUSAL = '; gatewright=refusal'
const VALUE = '; gatewright=value'
const JSON_TYPE = 'application/json; charset=utf-8'

/** What is kept of an outcome: not rendered, refusals in their plain shape. Throws for a body that JSON cannot write. */
export function keptForm(outcome: Outcome): WireAnswer {
  if (outcome.kind === 'failure') return wire(failureAnswer(outcome.error, 'plain'))
  if (outcome.kind === 'denial') return marked(wire(denialAnswer(outcome.denial, 'plain')), REFUSAL)
  const { answer } = outcome
  const kept = wire(answer)
  return answer.body === undefined || typeof answer.body === 'string' ? kept : marked(kept, VALUE)
}

/**
 * The outcome that was kept. A refusal is one again, so that whoever asks gets it in their own shape. With `parse`, for a
 * renderer, a body that was a value is one again; without it the text stays as it is.
 */
export function keptOutcome(kept: WireAnswer, parse: boolean): Outcome {
  const { status, body } = kept
  const refusal = unmarked(kept, REFUSAL)
  if (refusal) {
    const { error, message, field, ...details } = JSON.parse(body) as PlainError
    const named = field === undefined ? {} : { field }
    const denial = { ok: false, code: error, status, message, ...named, details, headers: refusal } as const
    return { kind: 'denial', denial }
  }
  const value = unmarked(kept, VALUE)
  if (value)
    return { kind: 'answer', answer: { status, headers: value, body: parse ? JSON.parse(body) : body } }
  return { kind: 'answer', answer: { status, headers: kept.headers, body: body === '' ? undefined : body } }
}

/** What was kept, without the parameter that says what it was. */
export function asWritten(kept: WireAnswer): WireAnswer {
  const headers = unmarked(kept, REFUSAL) ?? unmarked(kept, VALUE)
  return headers ? wire({ ...kept, headers }) : kept
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

/** The header fields without the mark; undefined where it is not there. */
function unmarked({ headers }: WireAnswer, mark: string): readonly HeaderField[] | undefined {
  if (!headers.some(([name, value]) => isType(name) && value.endsWith(mark))) return undefined
  return headers.flatMap(([name, value]): HeaderField[] => {
    const own = isType(name) ? value.slice(0, -mark.length) : value
    return isType(name) && own === JSON_TYPE ? [] : [[name, own]]
  })
}

const isType = (name: string): boolean => name.toLowerCase() === 'content-type'
