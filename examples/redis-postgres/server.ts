import type { AddressInfo } from 'node:net'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { createIdempotency } from '@gatewright/idempotency-store'
import { scopeCatalogue } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import { createGuard } from '@gatewright/scope-guard'
import { createVerifier } from '@gatewright/signature-verifier'
import express from 'express'
import { AUDIENCE, demoIssuer, ISSUER } from '../support/demo-issuer.ts'
import { openStores } from './stores.ts'

const { REDIS_URL, DATABASE_URL, STORE_NAME, PORT } = process.env
if (!REDIS_URL || !DATABASE_URL) {
  console.error('Set REDIS_URL and DATABASE_URL: see examples/redis-postgres/README.md')
  process.exit(1)
}
const stores = await openStores(REDIS_URL, DATABASE_URL, STORE_NAME)

const issuer = await demoIssuer()
const idempotency = createIdempotency({ storage: stores.idempotency })
const limits = [
  { name: 'perKey', points: 600, windowSeconds: 60, per: 'key', store: stores.limiter },
] as const
const api = gate({
  scopes: scopeCatalogue(['orders.write']),
  guard: createGuard({ issuer: ISSUER, audience: AUDIENCE, keys: issuer.keys, limits }),
  idempotency,
})
const createOrder = api.idempotent({ operation: 'orders.create', allOf: ['orders.write'] })
const signIn = api.open('auth.signIn')
const verifier = createVerifier({ service: 'Acme', nonces: stores.nonces })

const app = express()
const gw = expressGate(api, { body: 'stream' })
app.post(
  '/v1/orders',
  gw.handle(createOrder, ({ effect }) => ({ status: 201, body: { order: effect.effectId } })),
)
app.post(
  '/v1/sign-in',
  gw.handle(signIn, async ({ json, facts }) => {
    const proof = json()
    if (!proof.ok) return proof
    // Checks take turns by client address: without it all clients would count as one.
    const wallet = await verifier.verify(proof.value, { addressBucket: addressBucket(facts.address) })
    return wallet.ok ? { status: 200, body: { address: wallet.value.address } } : wallet
  }),
)

const server = app.listen(Number(PORT ?? 3000), '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const token = await issuer.token(['orders.write'])
  console.log(`listens on ${url}

TOKEN=${token}
curl -i -X POST ${url}/v1/orders -H "Authorization: Bearer $TOKEN" -H 'Idempotency-Key: my-first-order'`)
})

/** Runs that have begun are ended before the clients are closed. */
process.once('SIGTERM', () => {
  server.close(async () => {
    await idempotency.drained()
    await stores.close()
  })
})
