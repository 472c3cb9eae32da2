import { allow, type Verdict } from '@gatewright/kernel'
import { shared } from '@gatewright/kernel/internal'
import { deny, type RequestDenial } from '../codes.ts'
import type { FastifyApp, FastifyRequest } from './fastify-types.ts'
import { isJson, notJson } from '../request/body.ts'
import { hasBody } from './node-body.ts'

const rawBodies: WeakMap<object, Uint8Array> = shared('fastify.rawBodies', () => new WeakMap())

/** Replaces Fastify's JSON parser with one that keeps the bytes and then calls Fastify's. */
export function keepRawBodies(app: FastifyApp): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  const options = { parseAs: 'buffer' } as const
  app.addContentTypeParser(/^application\/(?:[\w.-]+\+)?json(?:$|[ ;])/, options, (request, bytes, done) => {
    rawBodies.set(request.raw, bytes)
    if (bytes.length === 0) done(null, undefined)
    else parse(request as never, bytes.toString(), done)
  })
}

/**
 * Returns the bytes that the JSON parser kept, or denies a body that is not JSON. Throws a `TypeError` for JSON that another parser has
 * read.
 */
export function keptBytes({ raw }: FastifyRequest): Verdict<Uint8Array> {
  const bytes = rawBodies.get(raw)
  if (bytes) return allow(bytes)
  if (!hasBody(raw)) return allow(new Uint8Array())
  if (!isJson(raw.headers['content-type']) || raw.method === 'GET' || raw.method === 'HEAD') return notJson
  throw new TypeError(
    'the bytes of this request were not kept: write await app.register(gw.plugin) before the routes, in the same scope or above it, and no JSON parser of your own below',
  )
}

/** Returns the denial for an error of Fastify's body parsers; undefined for another error. */
export function parserDenial(error: unknown, limitBytes: number): RequestDenial | undefined {
  const { statusCode, code } = (error ?? {}) as { statusCode?: unknown; code?: unknown }
  const isParserError =
    typeof code === 'string' && (code.startsWith('FST_ERR_CTP_') || code.startsWith('FST_ERR_BAD_'))
  if (statusCode === 413) return deny('payload_too_large', `the body must be at most ${limitBytes} bytes`)
  if (statusCode === 415) return notJson
  const isInvalid = isParserError || error instanceof SyntaxError || statusCode === 400
  return isInvalid ? deny('invalid_request', 'the body is not valid JSON', { field: 'body' }) : undefined
}
