import type { IncomingMessage } from 'node:http'
import type { Answer } from './answer.ts'

/** The part of a Koa context that is used. Koa itself is not imported. */
export interface KoaContext {
  readonly req: IncomingMessage
  status: number
  body: unknown
  set(name: string, value: string): void
}

/** Plain facts of a request, read without a framework's own parsing. */
export interface RequestFacts {
  readonly method: string
  /** The path as received: undecoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** A header by lower-case name; undefined when absent. Repeated headers are joined by `, `. */
  header(name: string): string | undefined
  /** The peer's address. */
  readonly address: string
}

/** Reads the facts. The path is not decoded, so two spellings of one resource stay two. */
export function requestFacts({ req }: KoaContext): RequestFacts {
  const target = req.url ?? ''
  const mark = target.indexOf('?')
  return {
    method: req.method ?? '',
    path: mark === -1 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)),
    header: name => {
      const value = req.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    address: req.socket.remoteAddress ?? '',
  }
}

/**
 * Sends an answer through Koa: as JSON, a text as it is, nothing for undefined. A header of the answer may name a more
 * exact media type.
 */
export function send(ctx: KoaContext, answer: Answer): void {
  const { body } = answer
  ctx.status = answer.status
  ctx.body = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
  // Koa turns a null body into 204.
  ctx.status = answer.status
  if (body !== undefined) ctx.set('Content-Type', 'application/json; charset=utf-8')
  for (const [name, value] of answer.headers) ctx.set(name, value)
}
