import type { ConnectRequest } from './connect-types.ts'
import { partOf } from './handler-scope.ts'
import { HandlerWatch, type HandlerPart, type ResponseAuthor } from './handler-watch.ts'

/** The members of an Express route that are used: a function per method that adds a handler, and the list of handlers. */
type ExpressRoute = Record<string, (handler: ErrorHandler) => unknown> & {
  readonly stack?: readonly { handle?: RouteHandler }[]
}
/** A handler in an Express route: a function, or a router with its own handlers. */
type RouteHandler = ((...given: never[]) => unknown) & { readonly stack?: unknown; readonly handle?: unknown }
type Next = (error?: unknown) => unknown
type ErrorHandler = (error: unknown, request: object, response: unknown, next: Next) => void

/** What the handlers of requests have thrown. */
const thrownErrors = new WeakMap<object, unknown>()
const watchedMethods = new WeakMap<object, Set<string>>()
/** The functions that were put in place of handlers of routes. */
const watchedHandlers = new WeakSet<object>()
/** Requests whose `originalUrl` was set by this file and not by a framework. */
const translatedRequests = new WeakSet<object>()
/** The watches of requests whose guard has accepted them. */
const watches = new WeakMap<object, HandlerWatch>()

/**
 * The last handler of a route: records that a handler of the route has failed, and passes the error on. An error of somebody else, such as a
 * time-out, does not say that the handler has ended.
 */
const recordFailure: ErrorHandler = (error, request, _response, next) => {
  if (watches.get(request)?.last?.hasFailed !== false) noteError(request, error)
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

/** Whether a handler is a function that handles requests, and not errors; and neither a router nor an application. */
const isPlain = (handle: RouteHandler | undefined): boolean =>
  typeof handle === 'function' && handle.length <= 3 && !('stack' in handle) && !('handle' in handle)

/** Whether a route may respond to an error before its last handler: it has an error handler, or a router with handlers. */
function handlesErrors({ stack }: ExpressRoute): boolean {
  if (!Array.isArray(stack)) return true
  return stack.some(
    ({ handle }: { readonly handle?: RouteHandler }) =>
      handle !== (recordFailure as unknown) && !isPlain(handle),
  )
}

/** What a gate knows about the handlers of a request after its guard. */
export interface ExpressWatch {
  readonly watch: HandlerWatch
  /** Says who writes the response that is written now. */
  author(): ResponseAuthor
  /** Says that the run has ended. Nothing starts any more after one that had no effect. */
  end(hadNoEffect: boolean): void
  /** Calls what comes after the guard. Errors pass. */
  start(next: () => unknown): unknown
}

/**
 * Watches the handlers and errors of a request: each handler of its Express route, and an error handler at the end of the route. Outside a route,
 * the handlers and errors of a framework (which sets `originalUrl`) cannot be distinguished. Plain node http has no error handlers, and its
 * handler is what `next` calls.
 */
export function watchHandlers(request: ConnectRequest & { readonly route?: unknown }): ExpressWatch {
  const watch = new HandlerWatch()
  const author = responseAuthor(request, watch)
  watches.set(request, watch)
  return {
    watch,
    author: () => {
      endedRequests.add(request)
      return author()
    },
    end(hadNoEffect) {
      watch.isClosed = hadNoEffect
    },
    start: next => watch.call(() => next()),
  }
}

function responseAuthor(
  request: ConnectRequest & { readonly route?: unknown },
  watch: HandlerWatch,
): () => ResponseAuthor {
  const route = request.route as ExpressRoute | undefined
  const method = request.method?.toLowerCase() ?? ''
  const hasFramework = request.originalUrl !== undefined && !translatedRequests.has(request)
  const isRoute = typeof route?.[method] === 'function'
  if (isRoute) watchRoute(route, method)
  return () => {
    const thrown = thrownBy(request)
    if (thrown) return thrown
    const part = partOf(watch) as HandlerPart | undefined
    if (!part) return OTHER
    if (isRoute && request.route === route && !handlesErrors(route))
      return part === watch.last ? watch.handler(part) : OTHER
    // A promise that `next` returns is that of a handler of plain node http.
    const isVisible = part.isCalling || (part.isAsync && !part.hasEnded)
    return !isRoute && !hasFramework && isVisible ? watch.handler(part) : UNKNOWN
  }
}

const OTHER: ResponseAuthor = { by: 'other' }
const UNKNOWN: ResponseAuthor = { by: 'unknown' }

/** Watches the handlers of a route, and its errors, once for each method. */
function watchRoute(route: ExpressRoute, method: string): void {
  const methods = watchedMethods.get(route) ?? new Set()
  watchedMethods.set(route, methods)
  if (!methods.has(method)) route[method]?.(recordFailure)
  methods.add(method)
  for (const layer of route.stack ?? []) {
    const { handle } = layer
    if (handle && isPlain(handle) && !watchedHandlers.has(handle)) layer.handle = watched(handle)
  }
}

/** Makes the function that calls a handler of a route, and watches it if the guard of the request has run before it. */
function watched(handle: RouteHandler): RouteHandler {
  const given = handle as (this: unknown, request: object, response: unknown, next: Next) => unknown
  function watching(this: unknown, request: object, response: unknown, next: Next): unknown {
    const watch = watches.get(request)
    if (!watch) return given.call(this, request, response, next)
    return watch.call(part =>
      given.call(this, request, response, error => {
        if (error && error !== 'route' && error !== 'router') part.hasFailed = true
        return next(error)
      }),
    )
  }
  Object.defineProperty(watching, 'name', { value: handle.name })
  watchedHandlers.add(watching)
  return watching
}

function thrownBy(request: object): ResponseAuthor | undefined {
  if (!thrownErrors.has(request)) return undefined
  const error = thrownErrors.get(request)
  return error === HANDLER_RUNS ? UNKNOWN : { by: 'error handler', error }
}
