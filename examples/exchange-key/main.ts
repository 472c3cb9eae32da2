// Starts the service, makes a key, exchanges it, and verifies the token as a stranger would.
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createService, openIssuer } from './service.ts'

const issuer = await openIssuer(':memory:')
const server = createService(issuer).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const created = await issuer.createKey({
  surface: 'user',
  accountId: 'acc_1',
  userId: 'usr_1',
  walletAddress: null,
  scopes: ['cards.read', 'cards.write'],
})
if (!created.ok) throw new Error(created.code)
console.log(`key       ${created.value.key.prefix}_... (shown once)`)

const exchange = async (key: string, body: object): Promise<Record<string, string>> => {
  const response = await fetch(`${url}/sessions`, {
    method: 'POST',
    headers: { 'x-user-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Record<string, string>
}

const { token = '' } = await exchange(created.value.text, { scopes: ['cards.read'], ttlSeconds: 300 })
const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`)), {
  issuer: 'https://keys.example',
  audience: 'https://api.example',
  typ: 'at+jwt',
  algorithms: ['EdDSA'],
  requiredClaims: ['sub', 'jti', 'exp', 'iat', 'client_id'],
})
console.log(`session   ${payload['jti']} for ${payload.sub}, scope "${String(payload['scope'])}"`)

const { error, message } = await exchange(created.value.text, { scopes: ['withdrawals.write'] })
console.log(`denied   ${error}: ${message}`)

const rotated = await fetch(`${url}/keys/rotate`, {
  method: 'POST',
  headers: { 'x-user-key': created.value.text },
})
console.log(`rotated   ${rotated.status}; the old key works for another minute`)

await issuer.flush()
server.close()
