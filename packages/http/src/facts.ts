import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { clientOf, type TrustedProxies } from './address.ts'

/** Plain facts of a request, read without a framework's own parsing. */
export interface RequestFacts {
  readonly method: string
  /** The path as received: undecoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** A header by lower-case name; undefined when absent. Repeated headers are joined by `, `. */
  header(name: string): string | undefined
  /** The client's address, canonical; behind a trusted proxy the one it names. Empty when not known. */
  readonly address: string
  /** Whether the client's own connection is TLS, as far as a trusted proxy says. */
  readonly secure: boolean
}

/** An old name that a request used: a row of an alias table, by its id. */
export interface OldName {
  readonly alias: { readonly id: string }
}

/** The facts of a request under current names. */
export interface CanonicalFacts extends RequestFacts {
  /** The old names that it used. A handler that reads more of them adds them, so that answer and decision event tell of them. */
  readonly oldNames: OldName[]
}

/** The part of a Node request that is used: HTTP/1 and HTTP/2 (the compatibility API) alike. */
export interface NodeRequest extends Readable {
  readonly method?: string | undefined
  url?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean }
}

/** Trusts nobody: the peer is the client. */
export const noProxies: TrustedProxies = () => false

/** Splits a request target into its path and the rest, which starts with `?` or is empty. */
export function splitTarget(target: string): [path: string, search: string] {
  const mark = target.indexOf('?')
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark)]
}

/** Reads the facts of a Node request. HTTP/2 sends `:authority` where HTTP/1 has `Host`; both are `host` here. */
export function nodeFacts(
  request: NodeRequest,
  trusted: TrustedProxies = noProxies,
  target: string | undefined = request.url,
): RequestFacts {
  const [path, search] = splitTarget(target ?? '')
  const { headers, socket } = request
  const header = (name: string): string | undefined => {
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined)
    return Array.isArray(value) ? value.join(', ') : value
  }
  const peer = { address: socket.remoteAddress ?? '', secure: socket.encrypted === true }
  return {
    method: request.method ?? '',
    path,
    query: new URLSearchParams(search),
    header,
    ...clientOf(peer, header, trusted),
  }
}

/** Reads the facts of a fetch request. Its URL has been normalised already; the peer's address is the server's to know. */
export function fetchFacts(
  request: Request,
  peerAddress: string,
  trusted: TrustedProxies = noProxies,
): RequestFacts {
  const url = new URL(request.url)
  const header = (name: string): string | undefined =>
    request.headers.get(name) ?? (name === 'host' ? url.host : undefined)
  return {
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    header,
    ...clientOf({ address: peerAddress, secure: url.protocol === 'https:' }, header, trusted),
  }
}
