import type { Session, Verdict } from '@gatewright/kernel'
import type { NodeRequest } from '../request/facts.ts'
import type { Handler, OpenCall } from '../handler-types.ts'
import type { CompleteRoute, Route, StepResult } from '../route/steps.ts'
import type { NodeResponse } from './node-response.ts'

/**
 * A request of Express, Connect or plain node http. It declares no `body` and no `params`: Express takes the types of these for the
 * handlers of a route from its middlewares, and the handlers of an existing route would no longer compile.
 */
export interface ConnectRequest extends NodeRequest {
  /** The bytes of the body, where the platform keeps them. */
  readonly rawBody?: unknown
  originalUrl?: string
  /** The path of the Express router that the request has entered. */
  readonly baseUrl?: string
}

/** What a body parser and a router have set on a request. */
export interface RoutedRequest extends ConnectRequest {
  /** The result of a body parser. */
  body?: unknown
  /** Path parameters, as a router set them. The segments of a wildcard are a list in Express 5. */
  params?: Record<string, string | string[]>
  /** The route that an Express router matched. */
  route?: { readonly path?: unknown }
}

/** A Connect middleware. */
export type ConnectMiddleware = (
  request: ConnectRequest,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => void

/** A middleware that is also a plain node http listener. */
export type ConnectListener = (request: ConnectRequest, response: NodeResponse) => void

/** Mounts the operations of a gate on Express, Connect or plain node http. */
export interface ConnectGate {
  /**
   * Translates old names. Mount it on the application, before its routers. In an Express router with a path of its own it throws a
   * `TypeError`: it would see only the rest of the path, so that writes to two resources would look like one.
   */
  readonly aliases: ConnectMiddleware
  /** Mounts an operation whose handler returns its response. A transactional operation has its own handler. */
  handle<C extends OpenCall>(route: CompleteRoute<C>): ConnectListener
  handle<C extends OpenCall>(route: Route<C>, handler: Handler<C>): ConnectListener
  /**
   * Guards an existing handler. On an idempotent route it captures the handler's response. Mount it in the route of that
   * handler. If it is mounted with `use`, a response of 400 or more may come from an error handler, so its outcome is unknown unless
   * its status is one of the route's `noEffectStatuses`.
   */
  guard<C extends OpenCall>(route: Route<C>): ConnectMiddleware
  /**
   * Accepts a request as `guard(route)` does, for a framework that responds to a denied request itself: resolves to the call, or to
   * the response to send, which may be the stored one of an earlier request (`replayed`). Header fields of an accepted request are
   * set already.
   */
  accept<C extends OpenCall>(
    route: Route<C>,
    request: ConnectRequest,
    response: NodeResponse,
  ): Promise<StepResult<C>>
  /**
   * Tells the gate what a handler has thrown, where a framework above Express responds to errors itself. Nest does: call it in an
   * interceptor or an exception filter. Elsewhere the gate sees the error. The response to the request counts as that of an error
   * handler from then on.
   */
  failed(request: ConnectRequest, error: unknown): void
  /**
   * Returns the session of a request, for middleware that serves many routes, such as tenants and audits: that which a guard of the same request
   * has accepted, else that of its credential. It checks the credential, expiry and revocation. It checks no scope, surface, policy or limit, and
   * counts nothing: it does not replace the guard of a route. Denials: `unauthorized`, `session_expired`. Rejects with a fault, to be
   * sent as 503. Throws a `TypeError` for a gate without a guard.
   */
  session(request: ConnectRequest): Promise<Verdict<Session>>
  /**
   * Takes back what `failed` has said about a request: its handler starts now. A response below 400 counts as the handler's; any other
   * may come from what runs after it, so its outcome is unknown unless its status is one of the route's `noEffectStatuses`. Throws an
   * `Error` if the request has been responded to already: its run has ended, and the handler must not run.
   */
  started(request: ConnectRequest): void
  /** Returns the call of a request that `guard(route)` accepted. Throws a `TypeError` for any other request. */
  call<C extends OpenCall>(route: Route<C>, request: ConnectRequest): C
}
