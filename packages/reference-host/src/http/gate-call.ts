import type { HandlerAnswer } from '@gatewright/http'
import type { Verdict } from '@gatewright/kernel'
import type { Call, Document, Success } from './operation.ts'

/** A request without the operation's own types, which were checked when it was declared. */
export interface GateCall extends Omit<Call<never, never>, 'caller' | 'body'> {
  readonly input: { readonly body: unknown }
}

/** The call of an operation, with the caller that its credential proved. */
export function callOf({ facts, params, input }: GateCall, caller: unknown): Call<never, never> {
  return { facts, params, caller: caller as never, body: input.body as never }
}

/** The answer as it is stored for replays: before the envelope. */
export function toHandlerAnswer(verdict: Verdict<Success | Document>): HandlerAnswer {
  if (!verdict.ok) return verdict
  const { value } = verdict
  if (!('document' in value)) return { status: value.status ?? 200, body: value }
  return { status: value.status ?? 200, headers: value.headers, body: value.document }
}
