import { isDeepStrictEqual } from 'node:util'
import { localKeys, sessionReader } from '@gatewright/scope-guard'
import { gatewright, memoryStore } from 'gatewright/fetch'
import { manualClock, testGateway, testSession, type TestSession } from 'gatewright/testing'
import t from 'tap'

const options = { issuer: 'https://auth.example/', audience: 'https://api.example', peer: 'none' } as const
const ann = testSession({ accountId: 'ann', clientId: 'shop', scopes: ['payments.read'] })

/** A server with one read, which returns the session. */
function serverOf(
  given: Parameters<typeof gatewright>[0],
  scope: string | readonly string[] = 'payments.read',
) {
  const read = gatewright(given).read('payments.list', { scope }, ({ session }) => ({
    status: 200,
    body: { ...session },
  }))
  return async (token: string): Promise<{ status: number; json: Record<string, unknown> }> => {
    const request = new Request('https://api.example/payments', {
      headers: { authorization: `Bearer ${token}` },
    })
    const response = await read(request, undefined)
    return { status: response.status, json: (await response.json()) as Record<string, unknown> }
  }
}

t.test('a signed session passes the guard with its account and scopes', async t => {
  const gateway = testGateway(options)
  const { status, json } = await serverOf(gateway.options)(await gateway.token(ann))
  t.equal(status, 200)
  t.match(json, { accountId: 'ann', keyId: 'shop/ann', scopes: ['payments.read'] })
})

const roles: Readonly<Record<string, string>> = {
  clerk: 'org:payments:read',
  supabase: 'role:authenticated',
  keycloak: 'realm:payer',
  cognito: 'group:payers',
}
for (const provider of ['rfc9068', 'auth0', 'keycloak', 'entra', 'cognito', 'clerk', 'supabase'] as const) {
  t.test(`signs tokens as ${provider} does, with its scopes`, async t => {
    const gateway = testGateway({ ...options, provider })
    const scope = roles[provider] ?? 'payments.read'
    const session = testSession({ accountId: 'ann', scopes: [scope] })
    const { status, json } = await serverOf(gateway.options, scope)(await gateway.token(session))
    t.equal(status, 200)
    t.match(json, { accountId: 'ann', scopes: [scope] })
  })
}

t.test('signs an anonymous session of Supabase, and rejects scopes that it cannot have', async t => {
  const gateway = testGateway({ ...options, provider: 'supabase' })
  const anonymous = testSession({ scopes: ['role:anonymous'] })
  t.equal((await serverOf(gateway.options, 'role:anonymous')(await gateway.token(anonymous))).status, 200)
  await t.rejects(gateway.token(ann), /one scope, role:NAME/)
  await t.rejects(gateway.token(testSession({ scopes: ['role:a', 'role:b'] })), TypeError)
})

t.test('tokens of another gateway, of another time and with changed claims are denied', async t => {
  const gateway = testGateway(options)
  const ask = serverOf(gateway.options)
  const denied = async (token: Promise<string>): Promise<void> => {
    t.equal((await ask(await token)).status, 401)
  }
  const signed = (claims: TestSession['claims']): Promise<string> => gateway.token({ ...ann, claims })
  await denied(testGateway(options).token(ann))
  await denied(signed({ iss: 'https://other.example/' }))
  await denied(signed({ aud: 'https://other.example' }))
  await denied(signed({ nbf: gateway.clock.now() / 1000 + 60 }))
  const [head, payload, signature] = (await gateway.token(ann)).split('.') as [string, string, string]
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'bob' })).toString('base64url')
  await denied(Promise.resolve(`${head}.${changed}.${signature}`))
  const token = await gateway.token(ann)
  gateway.clock.advance(899_999)
  t.equal((await ask(token)).status, 200)
  gateway.clock.advance(1)
  t.match(await ask(token), { status: 401 }, 'denied at the exact end of its lifetime')
})

type Store = ReturnType<typeof memoryStore>

/** Whether two stores are one, apart from whether they say that they belong to one process: a test's is never reported as that. */
function isSameStore(one: Store, other: Store): boolean {
  return isDeepStrictEqual({ ...one, onlyProcess: false }, { ...other, onlyProcess: false })
}

t.test('replaces store, clock and keys, and keeps the other options', async t => {
  const foreign = localKeys({ keys: [] })
  const limit = { name: 'perKey', points: 1, windowSeconds: 60, per: 'key' as const }
  const given = {
    ...options,
    store: memoryStore(),
    limits: [{ ...limit, store: () => t.fail('a store outside the test') as never }],
    guard: { keys: foreign, maxTokenBytes: 2000 },
  }
  const gateway = testGateway(given)
  t.not(gateway.options.store, given.store)
  t.ok(isSameStore(gateway.options.store, gateway.store))
  t.equal(gateway.options.clock, gateway.clock)
  t.equal(gateway.options.guard.maxTokenBytes, 2000)
  t.not(gateway.options.guard.keys, foreign)
  const ask = serverOf(gateway.options)
  t.equal((await ask(await gateway.token(ann))).status, 200)
  t.equal((await ask(await gateway.token(ann))).status, 429, 'the limit counts in the process')
  t.equal(given.guard.keys, foreign, 'the given options are not changed')
})

t.test('takes a clock and a store of the test', async t => {
  const [clock, store] = [manualClock(1_800_000_000_000), memoryStore()]
  const gateway = testGateway(options, { clock, store })
  t.equal(gateway.options.clock, clock)
  t.ok(isSameStore(gateway.options.store, store))
  t.notOk(isSameStore(gateway.options.store, memoryStore()))
  const { json } = await serverOf(gateway.options)(await gateway.token(ann))
  t.match(json, { issuedAt: 1_800_000_000_000, expiresAt: 1_800_000_900_000 })
})

t.test('signs claims and types of tokens that only a reader of your own knows', async t => {
  const readSession = sessionReader({ account: 'tenant' })
  const gateway = testGateway({ ...options, guard: { readSession } })
  const session = testSession({ scopes: ['payments.read'], claims: { tenant: 'acme' } })
  t.match((await serverOf(gateway.options)(await gateway.token(session))).json, { accountId: 'acme' })
  const typed = testGateway({ ...options, guard: { readSession, typ: 'vnd.acme+jwt' } })
  t.equal((await serverOf(typed.options)(await typed.token(session))).status, 200)
})

t.test('is refused under NODE_ENV=production', async t => {
  t.teardown(() => delete process.env['NODE_ENV'])
  process.env['NODE_ENV'] = 'production'
  t.throws(() => testGateway(options), /testGateway: it is for tests, and NODE_ENV is production/)
})

t.test('an option that it does not replace is refused by name', t => {
  t.throws(() => testGateway(options, { clok: manualClock() } as never), /testGateway: .*clok.*clock/)
  t.end()
})

t.test('a session with a wrong member is refused by name', async t => {
  t.throws(() => testSession({ scope: ['payments.read'] } as never), /testSession: .*scope.*scopes/)
  t.throws(() => testSession({ lifetimeSeconds: 0 }), /testSession: lifetimeSeconds/)
  t.throws(() => testSession({ accountId: '' }), /testSession: accountId/)
  await t.rejects(testGateway(options).token({ account: 'ann' } as never), /testSession: .*accountId/)
})
