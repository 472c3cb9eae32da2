import type { Server } from 'node:http'
import { checkOptions } from '@gatewright/kernel/internal'
import type { GatewrightOptions } from '../options.ts'
import { testSession, type TestSession } from './session.ts'
import { signToken, signingKey } from './signing-key.ts'

/** What an issuer for development says in its tokens, and where it listens. */
export interface DevIssuerOptions {
  /** The port on 127.0.0.1. Default 4400; 0 takes a free one. */
  readonly port?: number
  /** The `audience` of your server. Default `https://api.example`. */
  readonly audience?: string
  /** The form of the tokens: the `provider` of your server. Default: that of RFC 9068. */
  readonly provider?: GatewrightOptions['provider']
  /** Whose tokens it hands out. Default: the account `ann`, with the scopes `payments.read` and `payments.write`. */
  readonly session?: Partial<TestSession>
}

/** An identity provider on this machine, for development. */
export interface DevIssuer {
  /** Its address: the `issuer` of your server. */
  readonly url: string
  /** Signs an access token that is valid for an hour, unless the session says otherwise. */
  token(session?: Partial<TestSession>): Promise<string>
  /** Ends it. Its tokens cannot be verified any more. */
  close(): Promise<void>
}

const SESSION: Partial<TestSession> = {
  accountId: 'ann',
  scopes: ['payments.read', 'payments.write'],
  lifetimeSeconds: 3600,
}

/**
 * Starts an identity provider on 127.0.0.1, so that a server can be tried without a tenant of a real one: its metadata, its key set, and
 * `GET /token`, which responds with a token as text. The key is new at each start and never leaves the process. Rejects with a `TypeError` under
 * `NODE_ENV=production`, and with the error of `listen` if the port is in use.
 */
export async function devIssuer(options: DevIssuerOptions = {}): Promise<DevIssuer> {
  if (process.env['NODE_ENV'] === 'production')
    throw new TypeError('devIssuer: it gives everybody a token, and NODE_ENV is production')
  const { port, audience, provider, session } = checkOptions('devIssuer', options, {
    port: { min: 0, max: 65_535, default: 4400 },
    audience: { is: 'text', default: 'https://api.example' },
    provider: true,
    session: { is: 'object', default: {} },
  })
  const key = await signingKey(crypto.randomUUID())
  let url = ''
  const token = (other: Partial<TestSession> = {}): Promise<string> => {
    const whose = testSession({ ...SESSION, ...session, ...other })
    return signToken(key, whose, { issuer: url, audience, ...(provider && { provider }) }, Date.now())
  }
  // A wrong session is an error of the start, and not of the first token.
  await token()
  const { createServer } = await import('node:http')
  const server = createServer(async (request, response) => {
    const document = documentOf(request.url ?? '', url, key.jwk)
    if (request.url === '/token') response.setHeader('content-type', 'text/plain').end(`${await token()}\n`)
    else if (document) response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    else response.writeHead(404).end()
  })
  url = await listening(server, port)
  return {
    url,
    token,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function documentOf(path: string, url: string, jwk: object): object | undefined {
  if (path === '/keys') return { keys: [jwk] }
  return /^\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/.test(path)
    ? { issuer: url, jwks_uri: `${url}/keys` }
    : undefined
}

/** Resolves to the address of a server when it listens. */
async function listening(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`
}
