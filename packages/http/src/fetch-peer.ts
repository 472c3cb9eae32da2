/** Reads the address of the connection. Undefined where it is not known: no limit by address binds such a request. */
export type PeerOf<Env> = (request: Request, env: Env) => string | undefined

const PEER_RECIPES = `
  Hono on Node (@hono/node-server): peer: (_request, env) => env.incoming.socket.remoteAddress
  Deno.serve((request, info) => handler(request, info)): peer: (_request, info) => info.remoteAddr.hostname
  Bun.serve({ fetch: (request, server) => handler(request, server) }): peer: (request, server) => server.requestIP(request)?.address
  Next.js and other platforms: peer: request => request.headers.get('x-real-ip') ?? undefined, with the header that your platform itself sets
  no limits by address: peer: 'none'`

/** Checks the choice once: without an address every limit by address would be off without a word. */
export function checkedPeer<Env>(peer: PeerOf<Env> | 'none', proxied: boolean): PeerOf<Env> {
  if (typeof peer === 'function') return peer
  if (peer !== 'none') {
    const given = peer === undefined ? 'undefined' : JSON.stringify(peer)
    throw new TypeError(
      `fetchGate: peer must be a function that gives the client's address, or 'none', not ${given}:${PEER_RECIPES}`,
    )
  }
  if (proxied)
    throw new TypeError("fetchGate: peer is needed with trustProxy, not 'none': which peer is the proxy?")
  return () => undefined
}
