import { gatewright, memoryStore } from 'gatewright/fetch'
import { devIssuer, type DevIssuer, type DevIssuerOptions } from 'gatewright/testing'
import t, { type Test } from 'tap'
import { z } from 'zod'

/** An issuer on a free port, until the test ends. */
async function issuerOf(t: Test, options: DevIssuerOptions = {}): Promise<DevIssuer> {
  const issuer = await devIssuer({ port: 0, ...options })
  t.teardown(() => issuer.close())
  return issuer
}

/** A server that trusts an issuer, by its metadata. */
function serverOf(issuer: string, provider?: DevIssuerOptions['provider']) {
  const gw = gatewright({
    issuer,
    audience: 'https://api.example',
    peer: () => '127.0.0.1',
    store: memoryStore({ perProcess: true }),
    ...(provider && { provider }),
  })
  const pay = gw.write('payments.create', { scope: 'payments.write', body: z.object({}) }, ({ session }) => ({
    status: 201,
    body: { owner: session.accountId },
  }))
  return (token: string): Promise<Response> =>
    pay(
      new Request('http://api.example/payments', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': crypto.randomUUID(),
        },
        body: '{}',
      }),
    )
}

t.test('hands out tokens that a server accepts by the metadata of the issuer', async t => {
  const issuer = await issuerOf(t)
  const send = serverOf(issuer.url)
  const handed = await fetch(`${issuer.url}/token`)
  t.equal(handed.headers.get('content-type'), 'text/plain')
  t.equal(handed.headers.get('access-control-allow-origin'), null, 'pages of other origins read no token')
  const paid = await send((await handed.text()).trim())
  t.equal(paid.status, 201)
  t.same(await paid.json(), { owner: 'ann' })
  t.equal((await send(await issuer.token({ scopes: ['payments.read'] }))).status, 403)
  t.equal((await fetch(`${issuer.url}/other`)).status, 404)
})

t.test('signs in the form of a provider', async t => {
  for (const provider of ['auth0', 'keycloak', 'entra', 'cognito'] as const) {
    const issuer = await issuerOf(t, { provider, session: { accountId: 'bob' } })
    const paid = await serverOf(issuer.url, provider)(await issuer.token())
    t.equal(paid.status, 201, provider)
    t.same(await paid.json(), { owner: 'bob' }, provider)
  }
})

t.test(
  'is trusted by its address alone: the tokens of another one, or for another API, are denied',
  async t => {
    const [issuer, other] = [await issuerOf(t), await issuerOf(t)]
    const send = serverOf(issuer.url)
    t.equal((await send(await other.token())).status, 401)
    const elsewhere = await issuerOf(t, { audience: 'https://other.example' })
    t.equal((await serverOf(elsewhere.url)(await elsewhere.token())).status, 401)
  },
)

t.test('does not start in production, with a wrong option, or on a port that is in use', async t => {
  const issuer = await issuerOf(t)
  await t.rejects(devIssuer({ port: Number(new URL(issuer.url).port) }), { code: 'EADDRINUSE' })
  await t.rejects(devIssuer({ port: -1 }), TypeError)
  await t.rejects(devIssuer({ port: Number.NaN }), TypeError)
  await t.rejects(devIssuer({ port: 0, session: { lifetimeSeconds: 0 } }), TypeError)
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'production'
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  })
  await t.rejects(devIssuer({ port: 0 }), /NODE_ENV is production/)
})
