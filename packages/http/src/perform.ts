import { allow, type Denial, type Verdict } from '@gatewright/kernel'
import { denialAnswer, wire, type Answer, type HeaderField } from './answer.ts'
import type { RequestFacts } from './facts.ts'
import type { OpenGate } from './gate.ts'
import type { WireAnswer } from './parts.ts'
import type { Admitted, Authorised, OpenCall, Route, Stage } from './stages.ts'

/** What a handler returns: an answer, whose body is sent as JSON, or a denial of any package, which is rendered. */
export type HandlerAnswer =
  | { readonly status: number; readonly headers?: readonly HeaderField[]; readonly body?: unknown }
  | Denial

/** A handler that returns its answer. What it throws is a fault (503) or an unexpected error (500). */
export type Handler<C extends OpenCall> = (call: C) => HandlerAnswer | Promise<HandlerAnswer>

/** What a binding knows of one request: the three tiny functions of a framework. */
export interface Incoming {
  /** The framework's own object of the request. */
  readonly request: object
  facts(): RequestFacts
  readBody(): Promise<Verdict<Uint8Array>>
  readonly signal: AbortSignal
}

/** A body that is not there, or not asked for. */
export const noBody = async (): Promise<Verdict<Uint8Array>> => allow(new Uint8Array())

/** Whether a request of this method has no body to read. */
export function bodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Old names, then the guard. */
export async function authorise<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  { request, facts }: Pick<Incoming, 'request' | 'facts'>,
): Promise<Stage<Authorised>> {
  const entered = gate.enter(request, facts)
  return entered.ok ? route.authorise(entered.value) : entered
}

/** All steps before the handler. The body is read after the guard, so a stranger's bytes are never waited for. */
export async function admit<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: Incoming,
): Promise<Stage<Admitted<C>>> {
  const authorised = await authorise(gate, route, incoming)
  if (!authorised.ok) return authorised
  const none = bodiless(authorised.value.facts.method)
  const readBody = none ? noBody : () => incoming.readBody()
  return route.admit(authorised.value, readBody, incoming.signal)
}

/** Runs a handler that returns its answer, and ends the run by it. */
export async function finish<C extends OpenCall>(
  gate: OpenGate,
  operation: string,
  admitted: Admitted<C>,
  handler: Handler<C>,
): Promise<WireAnswer> {
  const { call, settle, fail } = admitted
  let answer: WireAnswer
  try {
    answer = toWire(gate, operation, call.facts, await handler(call))
  } catch (error) {
    return fail(error)
  }
  return settle(answer)
}

/** From a request to the answer to send. */
export async function perform<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: Incoming,
  handler: Handler<C>,
): Promise<WireAnswer> {
  const admitted = await admit(gate, route, incoming)
  return admitted.ok ? finish(gate, route.operation, admitted.value, handler) : admitted.answer
}

function toWire(
  { settings }: OpenGate,
  operation: string,
  facts: RequestFacts,
  answer: HandlerAnswer,
): WireAnswer {
  const given: unknown = answer
  if (typeof given === 'object' && given !== null) {
    if ('ok' in answer) return wire(denialAnswer(answer, settings.shapeOf(facts)))
    const plain: Answer = { status: answer.status, headers: answer.headers ?? [], body: answer.body }
    if (Number.isInteger(plain.status)) return wire(plain)
  }
  throw new TypeError(
    `${operation}: the handler must return { status, headers?, body? } or a denial, not ${
      given === null ? 'null' : typeof given === 'object' ? 'an object without a status' : typeof given
    }`,
  )
}
