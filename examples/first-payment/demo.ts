import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** Serves metadata and key set of an identity provider on loopback, in one document, and signs its tokens. */
async function provider() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'demo', alg: 'RS256', use: 'sig' }
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}jwks`, keys: [jwk] }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const token = (scope: string): Promise<string> =>
    new SignJWT({ sub: 'auth0|ann', scope })
      .setProtectedHeader({ alg: 'RS256', kid: 'demo', typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience('https://payments.example')
      .setIssuedAt()
      .setExpirationTime('15m')
      .sign(privateKey)
  return { issuer, token, server }
}

const { issuer, token, server: keys } = await provider()
process.env['ISSUER'] = issuer
const { app } = await import('./server.ts')
const payments = app.listen(0, '127.0.0.1')
await new Promise(resolve => payments.once('listening', resolve))
const url = `http://127.0.0.1:${(payments.address() as AddressInfo).port}/payments`

async function pay(title: string, amountCents: number, key: string, scope: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${await token(scope)}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  }
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ amountCents }) })
  const replayed = reply.headers.has('idempotency-replayed') ? 'Idempotency-Replayed: true' : ''
  console.log(`${title}\n  ${reply.status} ${await reply.text()} ${replayed}`.trimEnd())
}

await pay('Pay 6000 cents', 6000, 'order-0001', 'payments.write')
await pay('The same request again', 6000, 'order-0001', 'payments.write')
await pay('Pay with a token that may only read', 500, 'order-0002', 'payments.read')
await pay('Pay 5000 cents more, where 10000 a day may be spent', 5000, 'order-0003', 'payments.write')

payments.close()
keys.close()
