const PEER_RECIPES = `
  Hono on Node (@hono/node-server): peer: (_request, env) => env.incoming.socket.remoteAddress
  Deno.serve((request, info) => handler(request, info)): peer: (_request, info) => info.remoteAddr.hostname
  Bun.serve({ fetch: (request, server) => handler(request, server) }): peer: (request, server) => server.requestIP(request)?.address
  Next.js and other platforms: peer: request => request.headers.get('x-real-ip') ?? undefined, with the header that your platform itself sets
  no limits per address: peer: 'none'`

type PeerOf<Env> = (request: Request, env: Env) => string | undefined

/** Checks the option `peer`, since without addresses every limit per address would silently be off. Throws a `TypeError`. */
export function checkedPeer<Env>(peer: PeerOf<Env> | 'none', proxied: boolean): PeerOf<Env> {
  if (typeof peer === 'function') return peer
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
  return () => undefined
}
