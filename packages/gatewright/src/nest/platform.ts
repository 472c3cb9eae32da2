import type { ServerResponse } from 'node:http'
import { sendReply, sendWire, type ConnectRequest } from '@gatewright/http/internal'
import type { ExecutionContext } from '@nestjs/common'

/** A response as the gate makes it. */
type Wire = Parameters<typeof sendWire>[1]

/** A request of Nest to one of its platforms. */
export interface PlatformRequest {
  /** What Nest gives guards and methods: the request of Express or of Fastify. */
  readonly key: object
  readonly request: ConnectRequest
  readonly response: ServerResponse
  /** Sends a response as it is. */
  send(response: Wire): void
}

/** The members of a Fastify request that are used. */
interface FastifyLike {
  readonly raw: ConnectRequest
  readonly params: unknown
  readonly body: unknown
  readonly rawBody?: unknown
  readonly routeOptions: { readonly url?: string }
}
type FastifyReply = Parameters<typeof sendReply>[0]

/** Platforms of Nest that a guard can work on. */
const PLATFORMS: readonly unknown[] = ['express', 'fastify']

/** Throws a `TypeError` for a platform whose requests the guard could not read. */
export function assertPlatform(type: string | undefined): void {
  // Without a type, the application has no HTTP server, as a command line has none.
  if (type && !PLATFORMS.includes(type))
    throw new TypeError(
      `gatewright/nest works on the adapters of Express and Fastify, got ${type}: use @nestjs/platform-express or @nestjs/platform-fastify`,
    )
}

/**
 * Reads the request of a context. That of Fastify becomes one of Node with what Fastify has read of it: the gate then captures the
 * response at the same place as with Express, after all hooks.
 */
export function platformRequest(context: ExecutionContext): PlatformRequest {
  const http = context.switchToHttp()
  const key = http.getRequest<ConnectRequest | FastifyLike>()
  if (!('raw' in key)) {
    const response = http.getResponse<ServerResponse>()
    return { key, request: key, response, send: wire => sendWire(response, wire) }
  }
  const reply = http.getResponse<FastifyReply & { readonly raw: ServerResponse }>()
  const { raw, params, body, rawBody, routeOptions } = key
  const request = Object.assign(raw, { params, body, rawBody, route: { path: routeOptions.url } })
  return { key, request, response: reply.raw, send: wire => void sendReply(reply, wire) }
}

/** The members of an adapter of Nest that say which parsers it has. Undefined without a server, and before one is made, as in a test module. */
interface ParsingAdapter {
  registerParserMiddleware?(prefix: string | undefined, rawBody: boolean): unknown
  /** Of Express: whether the application itself has mounted a middleware. */
  isMiddlewareApplied?(name: string): boolean
  /** Of Fastify. */
  readonly _isParserRegistered?: boolean
}

/**
 * Makes an application fail at its start whose body parsers are those of Nest and keep no bytes: the body of a repeat could not be compared.
 * One with parsers of its own (`bodyParser: false`, or `app.use(express.json({ verify: keepRawBody }))`) starts.
 */
export function requireRawBody(given: object | undefined): void {
  const adapter: ParsingAdapter | undefined = given
  const register = adapter?.registerParserMiddleware
  if (!adapter || !register) return
  adapter.registerParserMiddleware = (prefix, rawBody) => {
    const hasOwn = adapter['_isParserRegistered'] ?? adapter.isMiddlewareApplied?.('jsonParser')
    if (!rawBody && !hasOwn)
      throw new TypeError(
        'GatewrightModule: the application must keep raw bodies: write NestFactory.create(AppModule, { rawBody: true })',
      )
    return register.call(adapter, prefix, rawBody)
  }
}
