import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGuard, remoteKeys, sessionReader, type ForeignClaims } from '@gatewright/scope-guard'
import { manualClock } from '@gatewright/kernel/testing'
import { SignJWT, type JWK } from 'jose'
import t, { type Test } from 'tap'
import { signingKey, type SigningKey } from '../issuer.ts'

// RSA keys take long to make; one serves all tests that need no second.
const auth0Key = await signingKey('RS256', 'auth0-1')

/** A local issuer: publishes a key set over HTTP, as Auth0 and Entra do, and counts how often it is asked. */
async function issuer(t: Test, reply?: RequestListener) {
  const keys: JWK[] = []
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    if (reply) return reply(request, response)
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise(resolve => server.close(resolve)))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/jwks.json`)
  return { url, keys, asked: () => asked, server }
}

const AUTH0 = {
  iss: 'https://tenant.auth0.test/',
  aud: ['https://api.test', 'https://tenant.auth0.test/userinfo'],
}
const ENTRA = { iss: 'https://login.entra.test/tid/v2.0', aud: 'api://6f1c' }

async function token(key: SigningKey, claims: object, typ = 'JWT'): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ iat: now, nbf: now, exp: now + 900, ...claims })
    .setProtectedHeader({ alg: 'RS256', typ, kid: key.jwk.kid as string })
    .sign(key.privateKey)
}

function guardFor(url: URL, claims: { iss: string; aud: string | string[] }, reader: ForeignClaims = {}) {
  return createGuard({
    issuer: claims.iss,
    audience: Array.isArray(claims.aud) ? (claims.aud[0] as string) : claims.aud,
    typ: 'JWT',
    keys: remoteKeys(url, { cooldownMs: 0 }),
    readSession: sessionReader(reader),
    limits: [],
  })
}

t.test('accepts tokens of Auth0: what scope and permissions both name, an array as aud, no jti', async t => {
  const { url, keys, asked } = await issuer(t)
  const key = auth0Key
  keys.push(key.jwk)
  const guard = guardFor(url, AUTH0)
  const claims = {
    ...AUTH0,
    sub: 'auth0|5f7c',
    azp: 'client1',
    scope: 'openid read:cards write:cards',
    permissions: ['read:cards', 'write:cards', 'delete:cards'],
  }
  const authorization = `Bearer ${await token(key, claims)}`
  const rule = { operation: 'cards.create', allOf: ['read:cards', 'write:cards'] }
  const verdict = await guard.check({ authorization }, rule)
  t.match(verdict, {
    ok: true,
    value: {
      session: {
        accountId: 'auth0|5f7c',
        keyId: 'client1/auth0|5f7c',
        scopes: ['read:cards', 'write:cards'],
      },
    },
  })
  if (verdict.ok) t.match(verdict.value.session.sessionId, /^[\w-]{43}$/)
  t.match(await guard.check({ authorization }, { operation: 'cards.delete', allOf: ['delete:cards'] }), {
    code: 'insufficient_scope',
  })
  t.equal(asked(), 1)
})

t.test('accepts tokens of Entra: scp, uti, keys without alg', async t => {
  const { url, keys } = await issuer(t)
  const { alg: _, ...unnamed } = auth0Key.jwk
  const key = { ...auth0Key, jwk: { ...unnamed, kid: 'entra-1' } }
  keys.push(key.jwk)
  const guard = guardFor(url, ENTRA, { account: 'oid' })
  const claims = {
    ...ENTRA,
    sub: 'pairwise',
    oid: 'object-1',
    azp: 'app-1',
    scp: 'Cards.Read',
    uti: 'tok1',
    ver: '2.0',
  }
  const verdict = await guard.check(
    { authorization: `Bearer ${await token(key, claims)}` },
    { operation: 'cards.list', allOf: ['Cards.Read'] },
  )
  t.match(verdict, {
    ok: true,
    value: { session: { accountId: 'object-1', sessionId: 'tok1', keyId: 'app-1/pairwise' } },
  })
})

t.test('reads every member of a session from its claims, with instants in ms', async t => {
  const read = sessionReader({ surface: 'partner' as never })
  const claims = { iat: 1_767_225_600, exp: 1_767_226_500, sub: 'u', azp: 'c', jti: 'j', scope: 'a b' }
  t.same(read(claims), {
    sessionId: 'j',
    accountId: 'u',
    userId: null,
    walletAddress: null,
    surface: 'partner',
    keyId: 'c/u',
    keyVersion: 0,
    policyIds: [],
    scopes: ['a', 'b'],
    issuedAt: 1_767_225_600_000,
    expiresAt: 1_767_226_500_000,
  })
  t.match(read({ ...claims, iat: 1_767_225_600.1, exp: 1_767_226_500.9 }), {
    issuedAt: 1_767_225_601_000,
    expiresAt: 1_767_226_500_000,
  })
  for (const bad of [undefined, null, '1767225600', NaN, Infinity, -Infinity, 2 ** 53, 2 ** 60 + 0.5]) {
    t.equal(read({ ...claims, iat: bad }), undefined)
    t.equal(read({ ...claims, exp: bad }), undefined)
  }
})

t.test('denies tokens with another typ, another issuer or malformed scopes', async t => {
  const { url, keys } = await issuer(t)
  const key = auth0Key
  keys.push(key.jwk)
  const guard = guardFor(url, AUTH0)
  const good = { ...AUTH0, sub: 'auth0|1' }
  const send = async (claims: object, typ?: string) =>
    guard.check({ authorization: `Bearer ${await token(key, claims, typ)}` }, { operation: 'a.b', allOf: [] })
  t.match(await send(good), { ok: true })
  t.match(await send(good, 'id+jwt'), { code: 'unauthorized' })
  t.match(await send({ ...good, iss: 'https://other.auth0.test/' }), { code: 'unauthorized' })
  t.match(await send({ ...good, sub: undefined }), { code: 'unauthorized' })
  t.match(await send({ ...good, permissions: [{ read: true }] }), { code: 'unauthorized' })
  t.match(await send({ ...good, scope: 7 }), { code: 'unauthorized' })
})

t.test('applies the policies that the host names to tokens of other issuers', async t => {
  const { url, keys } = await issuer(t)
  const key = auth0Key
  keys.push(key.jwk)
  const guard = createGuard({
    issuer: AUTH0.iss,
    audience: 'https://api.test',
    typ: 'JWT',
    keys: remoteKeys(url),
    readSession: sessionReader({ policyIds: ({ azp }) => [`client:${String(azp)}`] }),
    policies: async ids => ids.map(() => ({ denyOperations: ['withdrawals.*'] })),
  })
  const authorization = `Bearer ${await token(key, { ...AUTH0, sub: 'u', azp: 'c' })}`
  t.match(await guard.check({ authorization }, { operation: 'withdrawals.create', allOf: [] }), {
    code: 'policy_blocked',
    details: { policyId: 'client:c' },
  })
})

t.test('fetches again for an unknown key, so a rotation needs no restart', async t => {
  const { url, keys, asked } = await issuer(t)
  const [first, second] = [auth0Key, await signingKey('RS256', 'k2')]
  keys.push(first.jwk)
  const guard = guardFor(url, AUTH0)
  const send = async (key: SigningKey) =>
    guard.check(
      { authorization: `Bearer ${await token(key, { ...AUTH0, sub: 'u' })}` },
      { operation: 'a.b', allOf: [] },
    )
  t.match(await send(first), { ok: true })
  keys.push(second.jwk)
  t.match(await send(second), { ok: true })
  t.equal(asked(), 2)
})

t.test('fetches once per cool-down, however many tokens name unknown keys', async t => {
  const { url, keys, asked } = await issuer(t)
  keys.push(auth0Key.jwk)
  const unknown = { ...auth0Key, jwk: { ...auth0Key.jwk, kid: 'nobody' } }
  const guard = createGuard({
    issuer: AUTH0.iss,
    audience: 'https://api.test',
    typ: 'JWT',
    keys: remoteKeys(url),
  })
  const authorization = `Bearer ${await token(unknown, { ...AUTH0, sub: 'u' })}`
  const all = await Promise.all(
    Array.from({ length: 50 }, async () => guard.check({ authorization }, { operation: 'a.b', allOf: [] })),
  )
  t.ok(all.every(verdict => !verdict.ok && verdict.code === 'unauthorized'))
  t.equal(asked(), 1)
})

t.test('throws a fault and never denies with 401 when the key set is unavailable', async t => {
  const responses: Record<string, RequestListener> = {
    'an error': (_, response) => void response.writeHead(500).end(),
    'no JSON': (_, response) => void response.end('<html>'),
    'no key set': (_, response) => void response.end('{"keys": 5}'),
    'a redirect': (_, response) => void response.writeHead(302, { location: 'https://evil.test/' }).end(),
    'a cut connection': request => void request.socket.destroy(),
    silence: () => {},
  }
  const key = auth0Key
  const authorization = `Bearer ${await token(key, { ...AUTH0, sub: 'u' })}`
  for (const [name, reply] of Object.entries(responses)) {
    const { url, server } = await issuer(t, reply)
    const keys = remoteKeys(url, { timeoutMs: 100 })
    const guard = createGuard({
      issuer: AUTH0.iss,
      audience: 'https://api.test',
      typ: 'JWT',
      keys,
      clock: manualClock(Date.now()),
    })
    await t.rejects(
      async () => guard.check({ authorization }, { operation: 'a.b', allOf: [] }),
      { code: 'ERR_KEYS_UNAVAILABLE' },
      name,
    )
    server.closeAllConnections()
  }
})
