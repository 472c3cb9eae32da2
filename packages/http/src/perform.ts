import { validateHeaderName, validateHeaderValue } from 'node:http'
import { allow, type Denial, type Verdict, type HeaderField } from '@gatewright/kernel'
import type { Answer } from './answer.ts'
import type { Stage } from './exchange.ts'
import type { RequestFacts } from './facts.ts'
import type { OpenGate } from './gate-types.ts'
import { checkMounted } from './mounting.ts'
import type { Connection } from './node-response.ts'
import type { Outcome } from './outcome.ts'
import type { WireAnswer } from './parts.ts'
import type { Admitted, Authorised, CompleteRoute, OpenCall, Route } from './stages.ts'

/** What a handler returns: an answer, whose body is sent as JSON, or a denial of any package, which is rendered. */
export type HandlerAnswer =
  | { readonly status: number; readonly headers?: readonly HeaderField[]; readonly body?: unknown }
  | Denial

/** A handler that returns its answer. What it throws is a fault (503) or an unexpected error (500). */
export type Handler<C extends OpenCall> = (call: C) => HandlerAnswer | Promise<HandlerAnswer>

/** What a binding knows of one request: the few functions of a framework. */
export interface Incoming {
  /** The framework's own object of the request. */
  readonly request: object
  facts(): RequestFacts
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  readBody(): Promise<Verdict<Uint8Array>>
  readonly connection: Connection
}

/** A body that is not there, or not asked for. */
export const noBody = async (): Promise<Verdict<Uint8Array>> => allow(new Uint8Array())

/** Old names, then the guard. */
export async function authorise<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  { request, facts, params }: Pick<Incoming, 'request' | 'facts' | 'params'>,
): Promise<Stage<Authorised>> {
  const entered = gate.enter(request, facts)
  return entered.ok ? route.authorise(entered.value, params) : entered
}

/** All steps before the handler. The body is read after the guard, so a stranger's bytes are never waited for. */
export async function admit<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: Incoming,
  written: boolean,
): Promise<Stage<Admitted<C>>> {
  const authorised = await authorise(gate, route, incoming)
  if (!authorised.ok) return authorised
  const { params, connection } = incoming
  const { method } = authorised.value.exchange.facts
  const readBody = method === 'GET' || method === 'HEAD' ? noBody : () => incoming.readBody()
  return route.admit(authorised.value, { params, readBody, connection, written })
}

/** What a handler came to. Throws a `TypeError` that names the operation for what is no answer. */
export function outcomeOf(operation: string, given: HandlerAnswer): Outcome {
  const returned: unknown = given
  if (typeof returned === 'object' && returned !== null) {
    const fields = (given as { headers?: readonly HeaderField[] }).headers
    const body = 'ok' in given ? {} : given.body
    if (Number.isInteger(given.status))
      checkSendable(operation, { status: given.status, headers: fields ?? [], body })
    if ('ok' in given) return { kind: 'denial', denial: given }
    const { status, headers = [] } = given
    if (Number.isInteger(status)) return { kind: 'answer', answer: { status, headers, body } }
  }
  const kind = returned === null ? 'null' : typeof returned
  const what = kind === 'object' ? 'an object without a status' : kind
  throw new TypeError(
    `${operation}: the handler must return { status, headers?, body? } or a denial, not ${what}`,
  )
}

/** Statuses whose answers have no body (RFC 9110 section 6.4.1). */
const BODILESS = [204, 205, 304]

/** What no server would send is a failure of the handler, found before its run ends. Throws a `TypeError`. */
function checkSendable(operation: string, { status, headers, body }: Answer): void {
  if (status < 200 || status > 599)
    throw new TypeError(`${operation}: the handler's status must be from 200 to 599, not ${status}`)
  if (BODILESS.includes(status) && body !== undefined && body !== '')
    throw new TypeError(`${operation}: an answer with status ${status} has no body`)
  for (const [name, value] of headers) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  }
}

/** Runs a handler that returns its answer, and ends the run by it. */
export async function finish<C extends OpenCall>(
  admitted: Admitted<C>,
  run: (call: C) => Promise<Outcome>,
): Promise<WireAnswer> {
  const startedAt = performance.now()
  let outcome: Outcome
  try {
    outcome = await run(admitted.call)
  } catch (error) {
    outcome = { kind: 'failure', error }
  }
  return admitted.finish(outcome, performance.now() - startedAt)
}

/** From a request to the answer to send. */
export async function perform<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: Incoming,
  run: (call: C) => Promise<Outcome>,
): Promise<WireAnswer> {
  const admitted = await admit(gate, route, incoming, false)
  return admitted.ok ? finish(admitted.value, run) : admitted.answer
}

/** What a mounted route runs: its own handler, or the one given. Throws a `TypeError` for a route with none or two. */
export function runOf<C extends OpenCall>(
  route: Route<C>,
  handler: Handler<C> | undefined,
): (call: C) => Promise<Outcome> {
  checkMounted(route)
  const { run } = route as Partial<CompleteRoute<C>>
  const { operation } = route
  if (run && handler)
    throw new TypeError(`${operation} brings its handler along: handle(route) takes no other`)
  if (run) return run
  if (typeof handler !== 'function')
    throw new TypeError(`${operation}: its handler must be a function, not ${typeof handler}`)
  return async call => outcomeOf(operation, await handler(call))
}

/** Checks a route that guards existing handlers. Throws a `TypeError` for one that has a handler of its own. */
export function checkGuarding<C extends OpenCall>(route: Route<C>, ...existing: unknown[]): Route<C> {
  checkMounted(route, ...existing)
  if ('run' in route)
    throw new TypeError(`${route.operation} brings its handler along: mount it by handle(route)`)
  return route
}
