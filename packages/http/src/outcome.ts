import { Fault, type Denial } from '@gatewright/kernel'
import {
  denialAnswer,
  errorAnswer,
  faultAnswer,
  wire,
  type Answer,
  type ErrorShape,
  type HeaderField,
} from './answer.ts'
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

/** What is kept of an outcome: not rendered, refusals in their plain shape. */
export function keptForm(outcome: Outcome): WireAnswer {
  if (outcome.kind === 'answer') return wire(outcome.answer)
  if (outcome.kind === 'denial') return wire(denialAnswer(outcome.denial, 'plain'))
  return wire(failureAnswer(outcome.error, 'plain'))
}

/** The outcome that was kept. A plain refusal is one again, so that whoever asks gets it in their own shape. */
export function keptOutcome({ status, headers, body }: WireAnswer): Outcome {
  const value = isJson(headers) ? parsed(body) : undefined
  if (value === undefined)
    return { kind: 'answer', answer: { status, headers, body: body === '' ? undefined : body } }
  const rest = headers.filter(([name]) => name.toLowerCase() !== 'content-type')
  if (status < 400 || !isPlainError(value))
    return { kind: 'answer', answer: { status, headers: rest, body: value } }
  const { error, message, field, ...details } = value
  const named = field === undefined ? {} : { field }
  return {
    kind: 'denial',
    denial: { ok: false, code: error, status, message, ...named, details, headers: rest },
  }
}

interface PlainError {
  readonly error: string
  readonly message: string
  readonly field?: string
}

function isPlainError(value: unknown): value is PlainError {
  const { error, message, field } = (value ?? {}) as Record<string, unknown>
  const named = field === undefined || typeof field === 'string'
  return typeof error === 'string' && typeof message === 'string' && named
}

function isJson(headers: readonly HeaderField[]): boolean {
  return headers.some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('application/json'),
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
