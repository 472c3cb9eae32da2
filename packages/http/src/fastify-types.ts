import type { NodeRequest } from './facts.ts'
import type { NodeResponse } from './node-response.ts'
import type { Handler } from './perform.ts'
import type { CompleteRoute, OpenCall, Route } from './stages.ts'

/** The part of a Fastify request that is used. Fastify itself is not imported. */
export interface FastifyRequest {
  readonly raw: NodeRequest
  readonly body: unknown
  /** Path parameters. */
  readonly params?: unknown
}

/** The part of a Fastify reply that is used. */
export interface FastifyReply {
  readonly raw: NodeResponse
  statusCode: number
  code(status: number): unknown
  header(name: string, value: string): unknown
  getHeaders(): object
  removeHeader(name: string): unknown
  send(payload?: unknown): unknown
}

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyApp {
  addHook(
    name: 'onRequest',
    hook: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): unknown
  removeContentTypeParser(type: string): unknown
  addContentTypeParser(
    type: RegExp,
    options: { parseAs: 'buffer' },
    parser: (request: FastifyRequest, body: Buffer, done: Done) => void,
  ): unknown
  getDefaultJsonParser(
    onProto: 'error',
    onConstructor: 'error',
  ): (request: never, body: string, done: Done) => void
}

/** How a parser of Fastify answers. */
export type Done = (error: Error | null, body?: unknown) => void

/**
 * Where a request's bytes come from; there is no default. `kept`: the plugin's JSON parser keeps them, and parses as
 * Fastify's own does. `parsed`: the fall-back. `JSON.stringify(request.body)` stands for them.
 */
export type FastifyBody = 'kept' | 'parsed'

/** Route options to spread into `app.route({ method, url, ... })`. */
export interface FastifyHooks {
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  readonly preHandler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  readonly onSend: (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown>
  readonly onError: (request: FastifyRequest) => Promise<void>
  readonly errorHandler: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void
  readonly bodyLimit: number
}

/** Route options with a handler. */
export interface FastifyRoute extends Omit<FastifyHooks, 'onError'> {
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
}

/** Mounts a gate's operations. */
export interface FastifyGate {
  /** `app.register(plugin)`: keeps raw bodies and puts alias fields on every answer. Not encapsulated. */
  readonly plugin: (app: FastifyApp, options: unknown, done: () => void) => void
  /** `Fastify({ rewriteUrl })`: translates old paths, which only this option can do before routing. */
  readonly rewriteUrl: (request: NodeRequest) => string
  /** An operation whose handler returns its answer; a transactional one brings its handler along. */
  handle<C extends OpenCall>(route: CompleteRoute<C>): FastifyRoute
  handle<C extends OpenCall>(route: Route<C>, handler: Handler<C>): FastifyRoute
  /** Guards an existing handler; of an idempotent route what it sends is captured. */
  hooks<C extends OpenCall>(
    route: Route<C>,
  ): Pick<FastifyHooks, 'onRequest' | 'preHandler' | 'onSend' | 'onError'>
  /** The call of a request that passed `hooks(route)`. Throws a `TypeError` for any other. */
  call<C extends OpenCall>(route: Route<C>, request: FastifyRequest): C
}
