import type { ConnectRequest } from './connect-types.ts'

/**
 * Who wrote a captured response. Express passes what a handler throws to error handlers, whose responses cannot be distinguished from
 * those of the handler. `unknown`: it cannot be determined.
 */
export type ResponseAuthor =
  | { readonly by: 'handler' | 'unknown' }
  | { readonly by: 'error handler'; readonly error: unknown }

/** The members of an Express route that are used: a function per method that adds a handler, and the list of handlers. */
type ExpressRoute = Record<string, (handler: ErrorHandler) => unknown> & {
  readonly stack?: readonly { readonly handle?: RouteHandler }[]
}
/** A handler in an Express route: a function, or a router with its own handlers. */
type RouteHandler = ((...given: never[]) => unknown) & { readonly stack?: unknown; readonly handle?: unknown }
type ErrorHandler = (
  error: unknown,
  request: object,
  response: unknown,
  next: (error: unknown) => void,
) => void

/** What the handlers of requests have thrown. */
const thrownErrors = new WeakMap<object, unknown>()
const watchedMethods = new WeakMap<object, Set<string>>()
/** Requests whose `originalUrl` was set by this file and not by a framework. */
const translatedRequests = new WeakSet<object>()

/** The last handler of a route: records that a handler of the route has failed, and passes the error on. */
const recordFailure: ErrorHandler = (error, request, _response, next) => {
  noteError(request, error)
  next(error)
}

/** Records what a handler of a request has thrown. */
export function noteError(request: object, error: unknown): void {
  thrownErrors.set(request, error)
}

/** In place of an error: the handler of the request runs or has run, and what runs after it may respond to an error of its own. */
const HANDLER_RUNS = Symbol('the handler runs')

/** Requests whose run has ended with a response. */
const endedRequests = new WeakSet<object>()

/** Records that the handler of a request starts now. Throws an `Error` if its run has ended with a response. */
export function noteStart(request: object): void {
  if (endedRequests.has(request))
    throw new Error(
      'the request was responded to before its handler could start, so the handler must not run: a time-out that covers what runs before it must be longer',
    )
  thrownErrors.set(request, HANDLER_RUNS)
}

/** Keeps the original request target, as Express and Connect do before they change `url`. */
export function keepOriginalUrl(request: ConnectRequest): void {
  if (request.originalUrl !== undefined) return
  request.originalUrl = request.url ?? ''
  translatedRequests.add(request)
}

/** Whether a route may respond to an error before its last handler: it has an error handler, or a router with handlers. */
function handlesErrors({ stack }: ExpressRoute): boolean {
  if (!Array.isArray(stack)) return true
  return stack.some(({ handle }: { readonly handle?: RouteHandler }) => {
    if (handle === (recordFailure as unknown)) return false
    return typeof handle !== 'function' || handle.length > 3 || 'stack' in handle || 'handle' in handle
  })
}

/**
 * Watches the errors of a request's Express route with an error handler at the end of the route, and returns a function that
 * says who wrote the response that ends the run. Outside a route, errors of a framework (which sets `originalUrl`) cannot be observed. Plain
 * node http has no error handlers.
 */
export function watchErrors(request: ConnectRequest & { readonly route?: unknown }): () => ResponseAuthor {
  const author = responseAuthor(request)
  return () => {
    endedRequests.add(request)
    return author()
  }
}

function responseAuthor(request: ConnectRequest & { readonly route?: unknown }): () => ResponseAuthor {
  const route = request.route as ExpressRoute | undefined
  const method = request.method?.toLowerCase() ?? ''
  const hasFramework = request.originalUrl !== undefined && !translatedRequests.has(request)
  if (typeof route?.[method] !== 'function')
    return () => thrownBy(request) ?? { by: hasFramework ? 'unknown' : 'handler' }
  const methods = watchedMethods.get(route) ?? new Set()
  watchedMethods.set(route, methods)
  if (!methods.has(method)) route[method](recordFailure)
  methods.add(method)
  return () =>
    thrownBy(request) ?? { by: request.route === route && !handlesErrors(route) ? 'handler' : 'unknown' }
}

function thrownBy(request: object): ResponseAuthor | undefined {
  if (!thrownErrors.has(request)) return undefined
  const error = thrownErrors.get(request)
  return error === HANDLER_RUNS ? { by: 'unknown' } : { by: 'error handler', error }
}
