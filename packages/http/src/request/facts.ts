import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { clientOf, UNKNOWN_ADDRESS, type TrustedProxies } from './client-address.ts'

/** The facts of a request, read without a framework's own parsing. */
export interface RequestFacts {
  readonly method: string
  /** The path as received: not decoded, without the query. */
  readonly path: string
  /** The path before old names were translated. Absent: `path`. */
  readonly receivedPath?: string
  readonly query: URLSearchParams
  /** The query as received: not decoded, from `?` on, or empty. */
  readonly search: string
  /** Returns a header by its lower-case name; undefined if absent. Repeated headers are joined by `, `. */
  header(name: string): string | undefined
  /**
   * The canonical address of the client; behind a trusted proxy the address that the proxy names. `unknown`: the server cannot
   * name it, as after a reset. Empty: the connection has no address, as on a Unix socket.
   */
  readonly address: string
  /** Whether the client's connection is TLS; behind a trusted proxy as the proxy says. */
  readonly secure: boolean
  /** The id that a trusted proxy gave the request: its `X-Request-Id`, if that is 8 to 100 letters, digits or `._:=+@-`. */
  readonly proxyRequestId?: string | undefined
}

/** An old name that a request used: an entry of an alias table, by its id. */
export interface OldName {
  readonly alias: { readonly id: string }
}

/** The facts of a request under current names. */
export interface CanonicalFacts extends RequestFacts {
  /** The old names that the request used. A handler that reads another old name adds it, so that response and decision event contain it. */
  readonly oldNames: OldName[]
}

/** The members of a Node request that are used, of HTTP/1 and of the compatibility API of HTTP/2. */
export interface NodeRequest extends Readable {
  readonly method?: string | undefined
  url?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** Names and values as received, in turn. */
  readonly rawHeaders?: readonly string[]
  readonly socket: {
    readonly remoteAddress?: string | undefined
    readonly localAddress?: string | undefined
    readonly destroyed?: boolean
    readonly encrypted?: boolean
    once?(event: 'close', listener: () => void): unknown
  }
  /** Whether Node has given the connection to a listener of `upgrade`. */
  readonly upgrade?: boolean
}

/** Trusts no proxy: the peer is the client. */
const noProxies: TrustedProxies = () => false

/** Splits a request target into its path and its search, which starts with `?` or is empty. */
export function splitTarget(target: string): [path: string, search: string] {
  const mark = target.indexOf('?')
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark)]
}

/**
 * Neither a reset connection nor a Unix socket has a remote address. Only a Unix socket has no local address while it is open,
 * so that distinguishes them.
 */
function absentAddress({ destroyed, localAddress }: NodeRequest['socket']): string {
  return destroyed === true || localAddress !== undefined ? UNKNOWN_ADDRESS : ''
}

/**
 * Returns the `Authorization` of a request. Node keeps the first of several fields. A proxy may have checked another one, so they are
 * joined, as for other fields: a guard then denies the request.
 */
function authorizationOf({ headers, rawHeaders = [] }: NodeRequest): string | undefined {
  const { authorization } = headers
  if (authorization === undefined) return undefined
  const fields = rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'authorization',
  )
  return fields.length > 1 ? fields.join(', ') : authorization
}

/** Reads the facts of a Node request. The header `host` is `Host` of HTTP/1 or `:authority` of HTTP/2. */
export function nodeFacts(
  request: NodeRequest,
  trusted: TrustedProxies = noProxies,
  target: string | undefined = request.url,
): RequestFacts {
  const [path, search] = splitTarget(target ?? '')
  const { headers, socket } = request
  const header = (name: string): string | undefined => {
    if (name === 'authorization') return authorizationOf(request)
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined)
    return Array.isArray(value) ? value.join(', ') : value
  }
  const peer = { address: socket.remoteAddress ?? absentAddress(socket), secure: socket.encrypted === true }
  return {
    method: request.method ?? '',
    path,
    query: new URLSearchParams(search),
    search,
    header,
    ...clientOf(peer, header, trusted),
  }
}

/** Reads the facts of a fetch request. Its URL has been normalized already. The server must provide the peer's address. */
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
    search: url.search,
    header,
    ...clientOf({ address: peerAddress, secure: url.protocol === 'https:' }, header, trusted),
  }
}
