import { allow, type Verdict } from '@gatewright/kernel'
import { deny, type RequestDenial } from './codes.ts'
import type { FastifyApp, FastifyRequest } from './fastify-types.ts'
import { hasBody, notJson } from './node-body.ts'

const kept = new WeakMap<object, Uint8Array>()

/** Replaces the JSON parser by one that keeps the bytes and then does what Fastify's own does. */
export function keepRawBodies(app: FastifyApp): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  const options = { parseAs: 'buffer' } as const
  app.addContentTypeParser(/^application\/(?:[\w.-]+\+)?json(?:$|[ ;])/, options, (request, bytes, done) => {
    kept.set(request.raw, bytes)
    if (bytes.length === 0) done(null, undefined)
    else parse(request as never, bytes.toString(), done)
  })
}

/** The bytes that the JSON parser kept; a denial for a body that is not JSON. */
export function keptBytes({ raw }: FastifyRequest): Verdict<Uint8Array> {
  const bytes = kept.get(raw)
  if (bytes) return allow(bytes)
  return hasBody(raw) ? notJson : allow(new Uint8Array())
}

/** The denial that an error of Fastify's body parsers stands for. */
export function parserDenial(error: unknown, limitBytes: number): RequestDenial | undefined {
  const { statusCode, code } = (error ?? {}) as { statusCode?: unknown; code?: unknown }
  const ours =
    typeof code === 'string' && (code.startsWith('FST_ERR_CTP_') || code.startsWith('FST_ERR_BAD_'))
  if (statusCode === 413) return deny('payload_too_large', `the body must be at most ${limitBytes} bytes`)
  if (statusCode === 415) {
    return deny('unsupported_media_type', 'send the body as Content-Type: application/json in UTF-8')
  }
  const unread = ours || error instanceof SyntaxError || statusCode === 400
  return unread ? deny('invalid_request', 'the body is not valid JSON', { field: 'body' }) : undefined
}
