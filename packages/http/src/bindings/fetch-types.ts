import type { Session, Verdict } from '@gatewright/kernel'
import type { Handler, OpenCall } from '../handler-types.ts'
import type { CompleteRoute, Route } from '../route/steps.ts'

/** What an existing handler returns. Undefined only on Bun, where `server.upgrade(request)` has made the connection a WebSocket. */
export type MaybeResponse = Response | undefined

/** Options of `fetchGate`. */
export interface FetchGateOptions<Env> {
  /**
   * How the bytes of a request body are read; there is no default. `clone`: from a clone, so that an existing handler can
   * still read the request. `stream`: from the request itself, for handlers that only use `call.body`.
   */
  readonly body: 'clone' | 'stream'
  /**
   * Returns the address of the connection. A `Request` does not contain it, so it is read from the server's second argument.
   * There is no default. All requests for which it returns no address, such as those whose client has reset its connection,
   * share one bucket of the limits per address, and policies on addresses block them. `none`: no address is known, so that no
   * limit per address applies, and policies on addresses block. `none` cannot be combined with `trustProxy`.
   */
  readonly peer: ((request: Request, env: Env) => string | undefined) | 'none'
  /**
   * Keeps the runtime running for a request whose client has disconnected, so that a write that has begun is also recorded. On
   * Workers: `waitUntil` of `cloudflare:workers`. Not needed on Node, Deno and Bun.
   */
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/** The members of a Hono context that are used. Hono itself is not imported. */
export interface HonoContext<Env> {
  /** `param()` returns the path parameters of the matched route. */
  readonly req: {
    raw: Request
    param(): Readonly<Record<string, string | undefined>>
    /** The handlers that match the request, in their order, and which of them runs. */
    readonly matchedRoutes?: readonly { readonly handler: object }[]
    readonly routeIndex?: number
  }
  readonly env: Env
  /** The error of a handler, if Hono has responded to it. */
  readonly error?: Error | undefined
  get res(): Response
  set res(response: Response | undefined)
}

/** The second argument that a server passes with a request: optional unless `peer` reads it. */
type Beside<Env> = unknown extends Env ? [env?: Env] : [env: Env]

/** A mounted operation: also a `(request: Request) => Promise<Response>`, unless `peer` needs more than the request. */
export type FetchHandler<Env> = (
  request: Request,
  ...beside: [...Beside<Env>, params?: Readonly<Record<string, string>>]
) => Promise<Response>

/** Mounts the operations of a gate on a fetch server. */
export interface FetchGate<Env> {
  /** Wraps a whole application (`app.fetch`): translates old names before routing, and adds alias fields to every response. */
  aliases(
    fetch: (request: Request, env: Env, ...rest: never[]) => Response | Promise<Response>,
  ): (request: Request, ...beside: Beside<Env>) => Promise<Response>
  /**
   * Mounts an operation whose handler returns its response. A transactional operation has its own handler. `params` are the
   * path parameters that the server's router read; anything else in their place, such as the context of a Worker, is ignored.
   */
  handle<C extends OpenCall>(route: CompleteRoute<C>): FetchHandler<Env>
  handle<C extends OpenCall>(route: Route<C>, handler: Handler<C>): FetchHandler<Env>
  /**
   * Guards an existing handler from `Request` to `Response`. On an idempotent route it captures the response. On Bun, a handler returns
   * nothing after `server.upgrade(request)`.
   */
  wrap<C extends OpenCall>(
    route: Route<C>,
    existing: (request: Request, call: C) => MaybeResponse | Promise<MaybeResponse>,
  ): FetchHandler<Env>
  /**
   * Guards existing handlers as a Hono middleware. Mount it right before the handler: if another middleware is in between, a response of 400 or
   * more leaves the outcome unknown unless its status is one of the route's `noEffectStatuses`.
   */
  guard<C extends OpenCall>(
    route: Route<C>,
  ): (context: HonoContext<Env>, next: () => Promise<void>) => Promise<Response | undefined>
  /**
   * Returns the session of a request, for middleware that serves many routes, such as tenants and audits: that which a guard of the same request
   * has accepted, else that of its credential. It checks the credential, expiry and revocation. It checks no scope, surface, policy or limit, and
   * counts nothing: it does not replace the guard of a route. Denials: `unauthorized`, `session_expired`. Rejects with a fault, to be
   * sent as 503. Throws a `TypeError` for a gate without a guard.
   */
  session(request: Request, ...beside: Beside<Env>): Promise<Verdict<Session>>
  /** Returns the call of a request that `guard(route)` accepted. Throws a `TypeError` for any other request. */
  call<C extends OpenCall>(route: Route<C>, request: Request): C
}
