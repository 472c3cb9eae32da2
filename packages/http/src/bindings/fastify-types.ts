import type { Session, Verdict } from '@gatewright/kernel'
import type { NodeRequest } from '../request/facts.ts'
import type { NodeResponse } from './node-response.ts'
import type { Handler, OpenCall } from '../handler-types.ts'
import type { CompleteRoute, Route } from '../route/steps.ts'

/** The members of a Fastify request that are used. Fastify itself is not imported. */
export interface FastifyRequest {
  readonly raw: NodeRequest
  body: unknown
  /** Path parameters. */
  readonly params?: unknown
  readonly routeOptions?: {
    readonly url?: string | undefined
    readonly config?: object
  }
}

/** The members of a Fastify reply that are used. */
export interface FastifyReply {
  readonly raw: NodeResponse
  statusCode: number
  code(status: number): unknown
  header(name: string, value: string | string[]): unknown
  getHeaders(): object
  removeHeader(name: string): unknown
  send(payload?: unknown): unknown
}

/** How a route is declared, as far as its handler is watched. Not part of `FastifyApp`, to which Fastify's own type would not fit. */
export interface RouteHooks {
  addHook(
    name: 'onRoute',
    hook: (options: {
      onRequest?: object | readonly object[]
      preHandler?: object | readonly object[]
      config?: object
      handler: (this: unknown, request: FastifyRequest, reply: FastifyReply) => unknown
    }) => void,
  ): unknown
}

/** The members of a Fastify instance that the plugin uses. */
export interface FastifyApp {
  addHook(
    name: 'onRequest',
    hook: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): unknown
  addHook(
    name: 'onSend',
    hook: (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown>,
  ): unknown
  removeContentTypeParser(type: string): unknown
  addContentTypeParser(
    type: RegExp,
    options: { parseAs: 'buffer' },
    parser: (request: FastifyRequest, body: Uint8Array, done: DoneCallback) => void,
  ): unknown
  getDefaultJsonParser(
    onProto: 'error',
    onConstructor: 'error',
  ): (request: never, body: string, done: DoneCallback) => void
}

type DoneCallback = (error: Error | null, body?: unknown) => void

/** Route options of a mounted operation, to spread into `app.route({ method, url, ... })`. */
export interface FastifyRoute {
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  readonly preHandler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  readonly onSend: (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown>
  readonly errorHandler: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void
  readonly bodyLimit: number
}

/** Mounts the operations of a gate on Fastify. */
export interface FastifyGate {
  /**
   * Keeps raw bodies, and adds `Deprecation`, `Sunset` and `Link` to responses to requests under old names:
   * `app.register(plugin)`. Not encapsulated.
   */
  readonly plugin: (app: FastifyApp, options: unknown, done: () => void) => void
  /** Translates old paths: `Fastify({ rewriteUrl })`. Only this option of Fastify runs before routing. */
  readonly rewriteUrl: (request: NodeRequest) => string
  /** Mounts an operation whose handler returns its response. A transactional operation has its own handler. */
  handle<C extends OpenCall>(route: CompleteRoute<C>): FastifyRoute
  handle<C extends OpenCall>(route: Route<C>, handler: Handler<C>): FastifyRoute
  /**
   * Guards an existing handler. On an idempotent route the hooks capture what it sends. Register the plugin before the route: without it, the end
   * of the handler is not seen, and a response of 400 or more leaves the outcome unknown unless its status is one of `noEffectStatuses`.
   */
  hooks<C extends OpenCall>(
    route: Route<C>,
  ): Pick<FastifyRoute, 'onRequest' | 'preHandler' | 'onSend'> & {
    readonly onError: (request: FastifyRequest, reply: FastifyReply, error: unknown) => Promise<void>
  }
  /**
   * Returns the session of a request, for middleware that serves many routes, such as tenants and audits: that which a guard of the same request
   * has accepted, else that of its credential. It checks the credential, expiry and revocation. It checks no scope, surface, policy or limit, and
   * counts nothing: it does not replace the guard of a route. Denials: `unauthorized`, `session_expired`. Rejects with a fault, to be
   * sent as 503. Throws a `TypeError` for a gate without a guard.
   */
  session(request: FastifyRequest): Promise<Verdict<Session>>
  /** Returns the call of a request that `hooks(route)` accepted. Throws a `TypeError` for any other request. */
  call<C extends OpenCall>(route: Route<C>, request: FastifyRequest): C
}
