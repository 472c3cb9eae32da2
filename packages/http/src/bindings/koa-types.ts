import type { Session, Verdict } from '@gatewright/kernel'
import type { CanonicalFacts, NodeRequest } from '../request/facts.ts'
import type { Outcome } from '../response/outcome.ts'
import type { Handler, OpenCall } from '../handler-types.ts'
import type { CompleteRoute, Route } from '../route/steps.ts'
import type { NodeResponse } from './node-response.ts'

/** The members of a Koa context that are used. Koa itself is not imported. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  /** The result of a body parser: `body`, and from koa-bodyparser the text in `rawBody`. */
  readonly request: object
  readonly response: { readonly headers: object }
  path: string
  /** The request target as received. */
  readonly originalUrl: string
  /** The path of the koa-mount that the request entered last. koa-mount leaves it set afterwards. */
  readonly mountPath?: string
  status: number
  body: unknown
  /** Path parameters, as a router set them. */
  readonly params?: Record<string, string>
  /** The pattern that a router matched. */
  readonly _matchedRoute?: unknown
  readonly method?: string
  /** The application, and the layers of a router that match the path: what comes after a middleware. */
  readonly app?: { readonly middleware?: readonly object[] }
  readonly matched?: readonly { readonly methods: readonly string[]; readonly stack: readonly object[] }[]
  /** False if a handler writes to `res` itself. */
  respond?: boolean | undefined
  set(name: string, value: string | string[]): void
}

/** The members by which a response is sent. */
export type KoaResponder = Pick<KoaContext, 'req' | 'res' | 'status' | 'body' | 'respond' | 'set'>

/** A Koa middleware. */
export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>

/** Mounts the operations of a gate on Koa. */
export interface KoaGate {
  /**
   * Translates old names. Mount it on the application, before the router; `ctx.originalUrl` keeps the original target. Below a
   * koa-mount, or after one if the path was rewritten before, it throws a `TypeError`: it would see only the rest of the path.
   */
  readonly aliases: KoaMiddleware
  /** Mounts an operation whose handler returns its response. A transactional operation has its own handler. */
  handle<C extends OpenCall>(route: CompleteRoute<C>): KoaMiddleware
  handle<C extends OpenCall>(route: Route<C>, handler: Handler<C>): KoaMiddleware
  /**
   * Responds to a request that no operation serves, or that failed outside the gate. An error of `ctx.throw` keeps its status and message, unless an
   * operation has responded before: what it did has happened, so the response is a 500.
   */
  otherwise(ctx: KoaContext, outcome: (facts: CanonicalFacts) => Outcome): Promise<void>
  /**
   * Guards the middleware after it. On an idempotent route it captures `ctx.body`. Mount it right before the handler: if another middleware is in
   * between, a response of 400 or more leaves the outcome unknown unless its status is one of the route's `noEffectStatuses`.
   */
  guard<C extends OpenCall>(route: Route<C>): KoaMiddleware
  /**
   * Returns the session of a request, for middleware that serves many routes, such as tenants and audits: that which a guard of the same request
   * has accepted, else that of its credential. It checks the credential, expiry and revocation. It checks no scope, surface, policy or limit, and
   * counts nothing: it does not replace the guard of a route. Denials: `unauthorized`, `session_expired`. Rejects with a fault, to be
   * sent as 503. Throws a `TypeError` for a gate without a guard.
   */
  session(ctx: KoaContext): Promise<Verdict<Session>>
  /** Returns the call of a request that `guard(route)` accepted. Throws a `TypeError` for any other request. */
  call<C extends OpenCall>(route: Route<C>, ctx: KoaContext): C
}
