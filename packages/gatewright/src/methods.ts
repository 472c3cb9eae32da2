import type { Handler, OpenCall } from '@gatewright/http'
import { assertUnguarded, type Route } from '@gatewright/http/internal'
import type { Session, Verdict } from '@gatewright/kernel'
import type { Declarations, Operation } from './compose.ts'
import type { Existing, Gatewright, Protects, Wraps } from './gatewright.ts'
import type { Protecting, Respond } from './requests.ts'

/** The functions of a binding of `@gatewright/http` that mount a route. */
export interface Binding<Mounted> {
  handle(route: Route<OpenCall>, handler: Handler<OpenCall>): Mounted
}

interface MiddlewareBinding<Mounted, Middleware, Request> extends Binding<Mounted> {
  guard(route: Route<OpenCall>): Middleware
  call(route: Route<OpenCall>, request: Request): OpenCall
  session(request: Request): Promise<Verdict<Session>>
}

type Mounts<Mounted> = Pick<Gatewright<string, Mounted>, 'open' | 'read' | 'write'>

/** Makes the functions that mount a handler. */
export function mountMethods<Mounted>(declare: Declarations, binding: Binding<Mounted>): Mounts<Mounted> {
  const mount = <T>({ route, requestOf }: Operation<T>, respond: Respond<T>): Mounted => {
    if (typeof respond !== 'function')
      throw new TypeError(`${route.operation}: the handler must be a function, got ${typeof respond}`)
    assertUnguarded(route.operation, respond)
    assertOneParameter(route.operation, respond)
    return binding.handle(route, call => respond(requestOf(call)))
  }
  return {
    open: (operation, options, handler) => mount(declare.open(operation, options), handler),
    read: (operation, options, handler) => mount(declare.read(operation, options), handler),
    write: (operation, options, handler) => mount(declare.write(operation, options, false), handler),
  }
}

/** Throws a `TypeError` for a handler that expects the arguments of a framework: it would fail when it uses them, perhaps after its effect. */
function assertOneParameter(operation: string, { length }: (...given: never[]) => unknown): void {
  if (length <= 1) return
  throw new TypeError(
    `${operation}: the handler takes ${length} parameters, as (request, response) of a framework does, and would get one object: write ({ body, session }) => ({ status: 200, body: ... }), or put protectRead or protectWrite in front of the handler that exists`,
  )
}

/** Makes the functions of a framework with middlewares. */
export function middlewareMethods<Mounted, Middleware extends object, Request>(
  declare: Declarations,
  binding: MiddlewareBinding<Mounted, Middleware, Request>,
): Mounts<Mounted> & Protects<string, Middleware, Request> {
  const protect = <T>({ route, requestOf }: Operation<T>): Protecting<Middleware, Request, T> =>
    Object.assign(binding.guard(route), {
      accepted: (request: Request): T => requestOf(binding.call(route, request)),
    })
  return {
    ...mountMethods(declare, binding),
    session: request => binding.session(request),
    protectRead: (operation, options) => protect(declare.read(operation, options)),
    protectWrite: (operation, options) => protect(declare.write(operation, options, true)),
  }
}

/** The function of a binding that wraps an existing handler. */
export interface WrappingBinding<Mounted> {
  wrap(
    route: Route<OpenCall>,
    existing: (request: Request, call: OpenCall) => ReturnType<Existing<never>>,
  ): Mounted
}

/** Makes the functions of a framework whose handlers take a `Request` and return a `Response`. */
export function wrapMethods<Mounted>(
  declare: Declarations,
  binding: WrappingBinding<Mounted>,
): Wraps<string, Mounted> {
  const wrap = <T>({ route, requestOf }: Operation<T>, existing: Existing<T>): Mounted => {
    if (typeof existing !== 'function')
      throw new TypeError(`${route.operation}: the handler must be a function, got ${typeof existing}`)
    assertUnguarded(route.operation, existing)
    return binding.wrap(route, (request, call) => existing(request, requestOf(call)))
  }
  return {
    protectRead: (operation, options, existing) => wrap(declare.read(operation, options), existing),
    protectWrite: (operation, options, existing) => wrap(declare.write(operation, options, true), existing),
  }
}
