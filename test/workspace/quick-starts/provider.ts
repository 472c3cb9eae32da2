import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import type { Test } from 'tap'

/** Metadata and key set of a standard identity provider, and tokens in the form of RFC 9068. */
export async function provider(t: Test): Promise<{
  url: string
  sign(alg: 'RS256' | 'EdDSA', claims: JWTPayload): Promise<string>
}> {
  const pairs = await Promise.all(
    ['RS256', 'EdDSA'].map(async alg => ({ alg, ...(await generateKeyPair(alg)) })),
  )
  const keys = await Promise.all(
    pairs.map(async ({ alg, publicKey }) => ({ ...(await exportJWK(publicKey)), kid: alg, alg, use: 'sig' })),
  )
  const server = createServer((request, response) => {
    const isMetadata = request.url === '/.well-known/openid-configuration'
    response.end(JSON.stringify(isMetadata ? { issuer: url, jwks_uri: `${url}/keys` } : { keys }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const sign = (alg: string, claims: JWTPayload): Promise<string> => {
    const { privateKey } = pairs.find(pair => pair.alg === alg) as (typeof pairs)[number]
    const token = new SignJWT({ sub: 'auth0|ann', client_id: 'shop', jti: 'token-1', ...claims })
    return token
      .setIssuedAt()
      .setExpirationTime('15m')
      .setProtectedHeader({ alg, typ: 'at+jwt', kid: alg })
      .sign(privateKey)
  }
  return { url, sign }
}
