import { allow, type Verdict } from '@gatewright/kernel'
import type { OpenGate } from '../gate-types.ts'
import type { WireResponse } from '../ports.ts'
import { codingDenial } from '../request/body.ts'
import type { RequestFacts } from '../request/facts.ts'
import { outcomeOf } from '../response/handler-outcome.ts'
import type { Outcome } from '../response/outcome.ts'
import { thrownOutcome } from '../response/thrown-response.ts'
import { assertUnguarded } from './guarding.ts'
import type { Handler, OpenCall } from '../handler-types.ts'
import type { RequestContext } from './request-context.ts'
import type { StartedCall, AuthorizedRequest, CompleteRoute, Connection, Route, StepResult } from './steps.ts'

/** A request as the binding of a framework passes it to the gate. */
export interface IncomingRequest {
  /** The framework's own request object. */
  readonly request: object
  facts(): RequestFacts
  /** Path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  /** The pattern that the router matched, such as `/cards/:id`; undefined where a framework does not say. */
  readonly pattern?: unknown
  readBody(): Promise<Verdict<Uint8Array>>
  /** Gives an existing handler its JSON body under current field names. */
  readonly replaceBody?: (fields: Record<string, unknown>) => void
  readonly connection: Connection
}

/** Returns an empty body, for requests whose body is absent or not needed. */
const noBody = async (): Promise<Verdict<Uint8Array>> => allow(new Uint8Array())

/** Translates old names, then authorizes a request whose body the framework reads next. Denials: also `codingDenial`. */
export async function authorizeUnread<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: Pick<IncomingRequest, 'request' | 'facts' | 'params' | 'pattern'>,
  captured: boolean,
): Promise<StepResult<AuthorizedRequest>> {
  const entered = gate.enter(incoming.request, incoming.facts)
  if (!entered.ok) return entered
  const { value: context } = entered
  const authorized = await authorizeEntered(route, context, incoming)
  const denial = readsBody(route, context, captured) ? codingDenial(context.facts) : undefined
  if (!authorized.ok || !denial) return authorized
  return { ok: false, response: gate.conclude(context, { kind: 'denial', denial }) }
}

function authorizeEntered<C extends OpenCall>(
  route: Route<C>,
  context: RequestContext,
  { params, pattern }: Pick<IncomingRequest, 'params' | 'pattern'>,
): Promise<StepResult<AuthorizedRequest>> {
  if (typeof pattern === 'string') context.decision.route = pattern
  return route.authorize(context, params)
}

/**
 * Runs all steps before the handler. The gate reads the body after authorization, so that only an authorized client can make it
 * wait.
 */
export async function startCall<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: IncomingRequest,
  captured: boolean,
): Promise<StepResult<StartedCall<C>>> {
  const entered = gate.enter(incoming.request, incoming.facts)
  if (!entered.ok) return entered
  const { value: context } = entered
  const authorized = await authorizeEntered(route, context, incoming)
  if (!authorized.ok) return authorized
  const { params, connection, replaceBody } = incoming
  const readBody = readsBody(route, context, captured)
    ? async () => codingDenial(context.facts) ?? incoming.readBody()
    : noBody
  return route.startCall(authorized.value, { params, readBody, connection, captured, replaceBody })
}

/** Whether the gate reads the body of a request. An existing handler may read the body of a GET, if a parser runs for every method. */
function readsBody(
  route: Pick<Route<never>, 'readsBody'>,
  { facts: { method } }: Pick<RequestContext, 'facts'>,
  captured: boolean,
): boolean {
  return captured ? route.readsBody : method !== 'GET' && method !== 'HEAD'
}

/** Runs a handler and ends the run with the outcome. An error that the handler throws becomes a failure. */
export async function finish<C extends OpenCall>(
  started: StartedCall<C>,
  run: CompleteRoute<C>['run'],
): Promise<WireResponse> {
  const startedAt = performance.now()
  let outcome: Outcome
  try {
    outcome = await run(started.call, started.decision)
  } catch (error) {
    outcome = { kind: 'failure', error }
  }
  return started.finish(outcome, performance.now() - startedAt)
}

/** Runs all steps and the handler of a request, and returns the response to send. */
export async function perform<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: IncomingRequest,
  run: CompleteRoute<C>['run'],
): Promise<WireResponse> {
  const started = await startCall(gate, route, incoming, false)
  return started.ok ? finish(started.value, run) : started.response
}

/** Throws a `TypeError` unless `route` was made by a gate and every handler is a function. */
function assertRoute(
  route: { readonly operation: string; startCall: unknown },
  ...handlers: unknown[]
): void {
  if (typeof route?.startCall !== 'function') {
    throw new TypeError(
      `a route must be made by open, guarded, guardedBy, idempotent or transactional of the gate, got ${typeof route}`,
    )
  }
  if (handlers.some(handler => typeof handler !== 'function')) {
    throw new TypeError(`${route.operation}: the handler must be a function, got ${typeof handlers[0]}`)
  }
}

/**
 * Returns the function that a mounted route runs: its own handler, or the given one. Throws a `TypeError` for both or
 * neither, and for a handler that is guarded already.
 */
export function runOf<C extends OpenCall>(
  route: Route<C>,
  handler: Handler<C> | undefined,
): CompleteRoute<C>['run'] {
  assertRoute(route)
  const { run } = route as Partial<CompleteRoute<C>>
  const { operation } = route
  if (run && handler)
    throw new TypeError(`${operation} has its own handler: call handle(route) without another handler`)
  if (run) return run
  if (typeof handler !== 'function')
    throw new TypeError(`${operation}: the handler must be a function, got ${typeof handler}`)
  assertUnguarded(operation, handler)
  return async call => {
    try {
      return outcomeOf(operation, await handler(call))
    } catch (error) {
      return thrownOutcome(error)
    }
  }
}

/**
 * Returns a route that guards existing handlers. Throws a `TypeError` for a route that has its own handler, for one whose
 * body has old field names and is not read, so that its handler would see them, and for a handler that is guarded already.
 */
export function checkedGuardingRoute<C extends OpenCall>(route: Route<C>, ...existing: unknown[]): Route<C> {
  assertRoute(route, ...existing)
  for (const each of existing) assertUnguarded(route.operation, each)
  if ('run' in route)
    throw new TypeError(`${route.operation} has its own handler: mount it with handle(route)`)
  if (route.renamesFields && !route.readsBody)
    throw new TypeError(
      `${route.operation}: the alias table renames fields of its body, which only handle(route), idempotent routes and routes with a body schema translate`,
    )
  return route
}
