import type { HandlerResponse, HttpResponse, OpenCall } from '@gatewright/http'
import type { Verdict } from '@gatewright/kernel'
import type { Call, Document, Operation, Success } from '../operations/operation.ts'
import { ignoredNames } from '../request/unknown-names.ts'

/** Makes the call of an operation from that of the gate, with the caller that its credential has verified. */
export function callOf(
  { facts, params, input }: Pick<OpenCall, 'facts' | 'params' | 'input'>,
  caller: unknown,
): Call<never, never, never> {
  const { query, body } = input
  return { facts, params, caller: caller as never, query: query as never, body: body as never }
}

/** Converts a verdict to the response that is stored for replays: without the envelope. */
export function toHandlerResponse(verdict: Verdict<Success | Document>): HandlerResponse {
  if (!verdict.ok) return verdict
  const { value } = verdict
  if (!('document' in value)) return { status: value.status ?? 200, body: value }
  return { status: value.status ?? 200, headers: value.headers, body: value.document }
}

/**
 * Adds `ignored` to a success in the envelope. It depends on the request, so it is not stored with an idempotent response, and
 * a replay lists the names of its own request.
 */
export function withIgnored<A extends HandlerResponse | HttpResponse>(
  operation: Operation,
  { facts, input }: Pick<OpenCall, 'facts' | 'input'>,
  response: A,
): A {
  if ('ok' in response || operation.document || !isEnvelope(response.body)) return response
  const ignored = ignoredNames(operation, input.body, facts.query)
  return ignored.length === 0 ? response : { ...response, body: { ...response.body, ignored } }
}

/** Whether a body is in the envelope. A stored response whose body was too long has none. */
export const isEnvelope = (body: unknown): body is Success => typeof body === 'object' && body !== null
