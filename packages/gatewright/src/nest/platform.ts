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

/** The methods of an adapter of Nest that make body parsers. `rawBody`: whether they keep the bytes. */
interface ParsingAdapter {
  registerParserMiddleware?(prefix: string | undefined, rawBody: boolean): unknown
  useBodyParser?(type: unknown, rawBody: boolean, ...others: unknown[]): unknown
}

/**
 * Makes the body parsers of Nest keep the bytes of each body, as an application with `rawBody: true` does: the body of a repeat is compared
 * by them. Parsers that the application mounts itself are as they are. An application without an HTTP server has no adapter.
 */
export function keepRawBodies(given: object | null | undefined): void {
  const adapter: ParsingAdapter = given ?? {}
  const { registerParserMiddleware, useBodyParser } = adapter
  if (registerParserMiddleware)
    adapter.registerParserMiddleware = prefix => registerParserMiddleware.call(adapter, prefix, true)
  if (useBodyParser)
    adapter.useBodyParser = (type, _rawBody, ...others) => useBodyParser.call(adapter, type, true, ...others)
}
