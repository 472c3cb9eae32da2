import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider from 'oidc-provider'
import type { Test } from 'tap'

/** Signature algorithms of the tokens, each with a key of its own. */
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const

const AUDIENCE = 'https://api.example'

async function privateJwk(alg: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), kid: `key-${alg}`, alg, use: 'sig' }
}

/** A certified OpenID provider on loopback that issues access tokens of RFC 9068 to one client per algorithm. */
export interface TestProvider {
  readonly issuer: string
  readonly audience: string
  /** Requests a token by client credentials. `headers` may carry a DPoP proof. */
  token(alg: string, scope: string, headers?: Record<string, string>): Promise<string>
  /** The paths that were requested since the start. */
  readonly requested: string[]
}

export async function startProvider(t: Test): Promise<TestProvider> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    jwks: { keys: await Promise.all(ALGORITHMS.map(privateJwk)) },
    cookies: { keys: ['unused'] },
    clients: ALGORITHMS.map(alg => ({
      client_id: `client-${alg}`,
      client_secret: 'secret',
      redirect_uris: [],
      response_types: [],
      grant_types: ['client_credentials'],
    })),
    enabledJWA: { dPoPSigningAlgValues: ['ES256', 'EdDSA'] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, __: unknown, { clientId }: { clientId: string }) => ({
          scope: 'payments.read payments.write',
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: clientId.replace('client-', '') } },
        }),
      },
    },
  })
  const requested: string[] = []
  const handle = provider.callback()
  server.on('request', (request, response) => {
    requested.push(request.url ?? '')
    handle(request, response)
  })
  return {
    issuer,
    audience: AUDIENCE,
    requested,
    async token(alg, scope, headers = {}) {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { ...headers, authorization: `Basic ${btoa(`client-${alg}:secret`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE, scope }),
      })
      const body = (await response.json()) as { access_token?: string }
      if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`)
      return body.access_token
    },
  }
}
