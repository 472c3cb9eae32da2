import { createServer as createHttp } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { Fault } from '@gatewright/kernel'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { createServer } from '../../examples/guard-express/server.ts'
import { signingKey } from '../scope-guard/issuer.ts'

const ISSUER = 'https://tenant.auth0.test/'
const AUDIENCE = 'https://api.test'

async function listen(t: Test, server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise(resolve => server.close(resolve)))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The example in front of a local provider; `call` sends a request with a token of the given claims. */
async function running(t: Test, up = true, spend = memorySpends()) {
  const key = await signingKey('RS256', 'auth0-1')
  const provider = createHttp((_request, response) => {
    if (up) response.end(JSON.stringify({ keys: [key.jwk] }))
    else response.writeHead(500).end()
  })
  const url = await listen(t, provider)
  const app = createServer({
    issuer: ISSUER,
    audience: AUDIENCE,
    jwksUrl: new URL('/.well-known/jwks.json', url),
    policies: { shop: { dailyWithdrawalCapCents: 10_000 } },
    spend,
  })
  const base = await listen(t, createHttp(app))
  const tokenOf = (claims: object): Promise<string> =>
    new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'auth0|1', azp: 'shop', ...claims })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'auth0-1' })
      .setIssuedAt()
      .setExpirationTime('15m')
      .sign(key.privateKey)
  const call = async (path: string, token?: string, amountCents?: number): Promise<Response> =>
    fetch(base + path, {
      ...(amountCents === undefined ? {} : { method: 'POST', body: JSON.stringify({ amountCents }) }),
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    })
  return { call, tokenOf }
}

t.test('allows a token with the scope and sends what is left of its limit', async t => {
  const { call, tokenOf } = await running(t)
  const reply = await call('/cards', await tokenOf({ scope: 'openid read:cards' }))
  t.equal(reply.status, 200)
  t.same(await reply.json(), { cards: [] })
  t.match(reply.headers.get('ratelimit'), /^"perClient";r=99;t=\d+$/)
})

t.test('challenges a request without a token, and one without the scope', async t => {
  const { call, tokenOf } = await running(t)
  const none = await call('/cards')
  t.equal(none.status, 401)
  t.equal(none.headers.get('www-authenticate'), 'Bearer realm="api", scope="read:cards"')
  const lacking = await call('/cards', await tokenOf({ scope: 'openid' }))
  t.equal(lacking.status, 403)
  t.match(await lacking.json(), { error: 'insufficient_scope', scope: 'read:cards' })
})

t.test('lets exactly what fits the daily cap pass, however many ask at once', async t => {
  const { call, tokenOf } = await running(t)
  const token = await tokenOf({ permissions: ['write:transfers'] })
  const responses = await Promise.all(Array.from({ length: 40 }, () => call('/transfers', token, 1000)))
  t.equal(responses.filter(({ status }) => status === 200).length, 10)
  const denied = responses.filter(({ status }) => status === 403)
  t.equal(denied.length, 30)
  t.match(await denied[0]!.json(), {
    error: 'policy_blocked',
    rule: 'dailyWithdrawalCapCents',
    remaining: 0,
  })
})

t.test('lets a client without a policy do nothing', async t => {
  const { call, tokenOf } = await running(t)
  const reply = await call('/cards', await tokenOf({ azp: 'stranger', scope: 'read:cards' }))
  t.equal(reply.status, 403)
  t.match(await reply.json(), { error: 'policy_blocked' })
})

t.test('lets a client whose id is __proto__ do nothing', async t => {
  const { call, tokenOf } = await running(t)
  const reply = await call('/cards', await tokenOf({ azp: '__proto__', scope: 'read:cards' }))
  t.equal(reply.status, 403)
  t.match(await reply.json(), { error: 'policy_blocked' })
})

t.test('responds with 200 to a transfer that has happened, also if its hold cannot be settled', async t => {
  const settle = async (): Promise<never> => {
    throw new Fault('ERR_STORE_UNAVAILABLE', 'down')
  }
  const { call, tokenOf } = await running(t, true, { ...memorySpends(), settle })
  const reply = await call('/transfers', await tokenOf({ permissions: ['write:transfers'] }), 1000)
  t.equal(reply.status, 200)
  t.same(await reply.json(), { transferred: 1000 })
})

t.test('responds with 503 and Retry-After while the key set cannot be fetched', async t => {
  const { call, tokenOf } = await running(t, false)
  const reply = await call('/cards', await tokenOf({ scope: 'read:cards' }))
  t.equal(reply.status, 503)
  t.equal(reply.headers.get('retry-after'), '1')
})
