import type { OpenGate } from '../gate-types.ts'
import type { Handler, OpenCall } from '../handler-types.ts'
import type { WireResponse } from '../ports.ts'
import { codingDenial } from '../request/body.ts'
import { outcomeOf } from '../response/handler-outcome.ts'
import type { Outcome } from '../response/outcome.ts'
import { thrownOutcome } from '../response/thrown-response.ts'
import { assertUnguarded } from './guarding.ts'
import type { RequestContext } from './request-context.ts'
import { needsBody } from './route.ts'
import type { Run } from './run.ts'
import type { CompleteRoute, IncomingRequest, Route, StepResult } from './steps.ts'

/** Translates old names, then authorizes a request whose body the framework reads next. Denials: also `codingDenial`. */
export async function authorizeUnread<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: IncomingRequest,
): Promise<StepResult<RequestContext>> {
  const entered = gate.enter(incoming.request, incoming.facts)
  if (!entered.ok) return entered
  const { value: context } = entered
  const denied = await route.authorize(context, incoming)
  if (denied) return { ok: false, response: denied }
  const denial = needsBody(route, context.facts, incoming) ? codingDenial(context.facts) : undefined
  return denial ? { ok: false, response: gate.conclude(context, { kind: 'denial', denial }) } : entered
}

/**
 * Runs all steps before the handler. The gate reads the body after authorization, so that only an authorized client can make it
 * wait.
 */
export async function startRun<C extends OpenCall>(
  gate: OpenGate,
  route: Route<C>,
  incoming: IncomingRequest,
): Promise<StepResult<Run<C>>> {
  const entered = gate.enter(incoming.request, incoming.facts)
  if (!entered.ok) return entered
  const response = await route.authorize(entered.value, incoming)
  return response ? { ok: false, response } : route.start(entered.value, incoming)
}

/** Runs a handler and ends the run with the outcome. An error that the handler throws becomes a failure. */
export async function finish<C extends OpenCall>(
  started: Run<C>,
  run: CompleteRoute<C>['run'],
): Promise<WireResponse> {
  const startedAt = performance.now()
  let outcome: Outcome
  try {
    outcome = await run(started.call, started.context.decision)
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
  const started = await startRun(gate, route, incoming)
  return started.ok ? finish(started.value, run) : started.response
}

/** Throws a `TypeError` unless `route` was made by a gate and every handler is a function. */
function assertRoute(route: { readonly operation: string; start: unknown }, ...handlers: unknown[]): void {
  if (typeof route?.start !== 'function') {
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
