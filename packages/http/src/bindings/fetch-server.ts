import { UNKNOWN_ADDRESS } from '../request/client-address.ts'

const PEER_RECIPES = `
  Hono on Node (@hono/node-server): peer: (_request, env) => env.incoming.socket.remoteAddress
  Deno.serve((request, info) => handler(request, info)): peer: (_request, info) => info.remoteAddr.hostname
  Bun.serve({ fetch: (request, server) => handler(request, server) }): peer: (request, server) => server.requestIP(request)?.address
  Next.js and other platforms: peer: request => request.headers.get('x-real-ip') ?? undefined, with the header that your platform itself sets
  no limits per address: peer: 'none'`

type PeerOf<Env> = (request: Request, env: Env) => string | undefined

/**
 * Checks the option `peer`. It is required because without addresses every limit per address would silently be off. Throws a
 * `TypeError`. The returned function returns `unknown` where a server names no address, and an empty text only for `none`.
 */
export function checkedPeer<Env>(
  peer: PeerOf<Env> | 'none',
  proxied: boolean,
): (request: Request, env: Env) => string {
  // A server knows no address of a connection that the client has reset, and limits must still count its requests.
  if (typeof peer === 'function') return (request, env) => peer(request, env) || UNKNOWN_ADDRESS
  if (peer !== 'none') {
    const given = peer === undefined ? 'undefined' : JSON.stringify(peer)
    throw new TypeError(
      `fetchGate: peer must be a function that returns the client's address, or 'none', got ${given}:${PEER_RECIPES}`,
    )
  }
  if (proxied)
    throw new TypeError(
      "fetchGate: peer must be a function with trustProxy, got 'none': the address of the proxy is needed",
    )
  return () => ''
}

/** Makes the function that passes a promise to `waitUntil`, and returns the same promise. */
export function keepAlive(
  waitUntil: ((work: Promise<unknown>) => void) | undefined,
): <T>(work: Promise<T>) => Promise<T> {
  if (waitUntil === undefined) return work => work
  return work => {
    waitUntil(work.catch(() => {}))
    return work
  }
}

/** Returns the path parameters that a server passes: a plain object of texts. For anything else it returns no parameters. */
export function paramsOf(params: unknown): Record<string, string> {
  if (typeof params !== 'object' || params === null) return {}
  const prototype: unknown = Object.getPrototypeOf(params)
  if (prototype !== Object.prototype && prototype !== null) return {}
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  return given.every(([, value]) => typeof value === 'string') ? Object.fromEntries(given) : {}
}
