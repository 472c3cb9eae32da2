import type { ConnectRequest } from './express.ts'

/**
 * Who wrote a captured answer. Express gives what a handler throws to error handlers, and their answers look like its own.
 * `unsure`: nothing tells.
 */
export type Author = 'handler' | 'error handler' | 'unsure'

/** The part of a route of Express that is used: a function for each method that adds a handler, and the handlers there are. */
type ExpressRoute = Record<string, (handler: ErrorHandler) => unknown> & {
  readonly stack?: readonly { readonly handle?: RouteHandler }[]
}
/** A handler as a route holds it: a function, which a router has further handlers in. */
type RouteHandler = ((...given: never[]) => unknown) & { readonly stack?: unknown; readonly handle?: unknown }
type ErrorHandler = (
  error: unknown,
  request: object,
  response: unknown,
  next: (error: unknown) => void,
) => void

const failed = new WeakSet<object>()
const watched = new WeakMap<object, Set<string>>()
const renamed = new WeakSet<object>()

/** The last of its route: notes that a handler of it has failed, and passes the error on. */
const note: ErrorHandler = (error, request, _response, next) => {
  failed.add(request)
  next(error)
}

/** Keeps the target that came, as Express and Connect do, which tells their requests from those of plain node http. */
export function keepOriginalUrl(request: ConnectRequest): void {
  if (request.originalUrl !== undefined) return
  request.originalUrl = request.url ?? ''
  renamed.add(request)
}

/**
 * Whether a route has what could answer an error before the end of the route: an error handler of its own, or a router with
 * handlers inside.
 */
function handlesErrors({ stack }: ExpressRoute): boolean {
  if (!Array.isArray(stack)) return true
  return stack.some(({ handle }: { readonly handle?: RouteHandler }) => {
    if (handle === (note as unknown)) return false
    return typeof handle !== 'function' || handle.length > 3 || 'stack' in handle || 'handle' in handle
  })
}

/**
 * Watches the errors of the Express route that a request is in, by an error handler at the route's end. Outside of a route
 * the errors of a framework (`originalUrl` tells that there is one) cannot be seen; plain node http has no error handlers.
 */
export function watchErrors(request: ConnectRequest & { readonly route?: unknown }): () => Author {
  const route = request.route as ExpressRoute | undefined
  const method = request.method?.toLowerCase() ?? ''
  const framed = request.originalUrl !== undefined && !renamed.has(request)
  if (typeof route?.[method] !== 'function') return () => (framed ? 'unsure' : 'handler')
  const methods = watched.get(route) ?? new Set()
  watched.set(route, methods)
  if (!methods.has(method)) route[method](note)
  methods.add(method)
  return () => {
    if (failed.has(request)) return 'error handler'
    return request.route === route && !handlesErrors(route) ? 'handler' : 'unsure'
  }
}
