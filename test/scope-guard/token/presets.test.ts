import { createGuard, localKeys, sessionReader, type ForeignClaims } from '@gatewright/scope-guard'
import { SignJWT } from 'jose'
import t from 'tap'
import { signingKey } from '../issuer.ts'

const key = await signingKey('ES256', 'k1')
const now = Math.floor(Date.now() / 1000)
const times = { iat: now, nbf: now, exp: now + 900 }

/** An access token as the documentation of its provider shows it, with current times and ids of the same form. */
interface Sample {
  readonly preset: NonNullable<ForeignClaims['preset']>
  readonly source: string
  /** The members of the header beside `alg` and `kid`. */
  readonly header: object
  readonly audience: string
  readonly claims: Readonly<Record<string, unknown>> & { readonly iss: string }
  readonly session: object
  /** Claims that make it another token than an access token for this audience. */
  readonly denied: readonly Readonly<Record<string, unknown>>[]
}

const samples: readonly Sample[] = [
  {
    preset: 'rfc9068',
    source: 'https://www.rfc-editor.org/rfc/rfc9068#section-3',
    header: { typ: 'at+jwt' },
    audience: 'https://rs.example.com/',
    claims: {
      iss: 'https://authorization-server.example.com/',
      sub: '5ba552d67',
      client_id: 's6BhdRkqt3',
      aud: 'https://rs.example.com/',
      jti: 'dbe39bf3a3ba4238a513f51d6e1691c4',
      scope: 'openid profile reademail',
    },
    session: {
      accountId: '5ba552d67',
      keyId: 's6BhdRkqt3/5ba552d67',
      sessionId: 'dbe39bf3a3ba4238a513f51d6e1691c4',
      scopes: ['openid', 'profile', 'reademail'],
    },
    denied: [
      { sub: undefined },
      { client_id: undefined },
      { jti: undefined },
      { scope: 7 },
      { aud: undefined },
    ],
  },
  {
    preset: 'auth0',
    source:
      'https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles (Auth0 profile, with RBAC)',
    header: { typ: 'JWT' },
    audience: 'https://example.com/health-api',
    claims: {
      iss: 'https://my-domain.auth0.com/',
      sub: 'auth0|123456',
      azp: 'my_client_id',
      aud: ['https://example.com/health-api', 'https://my-domain.auth0.com/userinfo'],
      scope: 'openid profile read:patients',
      permissions: ['read:patients', 'read:admin'],
    },
    session: {
      accountId: 'auth0|123456',
      keyId: 'my_client_id/auth0|123456',
      sessionId: /^[\w-]{43}$/,
      scopes: ['read:patients'],
    },
    denied: [{ sub: undefined }, { permissions: [{ read: true }] }, { aud: 'my_client_id' }],
  },
  {
    preset: 'auth0',
    source: 'https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles (RFC 9068 profile)',
    header: { typ: 'at+jwt' },
    audience: 'https://example.com/health-api',
    claims: {
      iss: 'https://my-domain.auth0.com/',
      sub: 'auth0|123456',
      client_id: 'my_client_id',
      aud: ['https://example.com/health-api', 'https://my-domain.auth0.com/userinfo'],
      jti: '73WakrfVbNJBaAmhQtEeDv',
      scope: 'openid profile read:patients read:admin',
    },
    session: { keyId: 'my_client_id/auth0|123456', sessionId: '73WakrfVbNJBaAmhQtEeDv' },
    denied: [{ sub: undefined }],
  },
  {
    preset: 'keycloak',
    source: 'https://www.keycloak.org/docs/latest/server_admin/#_audience_resolve and a token of Keycloak 26',
    header: { typ: 'JWT' },
    audience: 'payments-api',
    claims: {
      iss: 'https://sso.example.com/realms/demo',
      sub: '36fa0f91-f94d-4a0c-afed-6b7d952e47da',

      aud: ['payments-api', 'account'],
      typ: 'Bearer',
      azp: 'webshop',
      jti: 'onrtac:d58f5dc8',
      acr: '1',
      sid: '2a88c258',
      'allowed-origins': ['https://shop.example'],
      scope: 'email profile',
      realm_access: { roles: ['offline_access', 'payer'] },
      resource_access: {
        'payments-api': { roles: ['payments.write'] },
        account: { roles: ['view-profile'] },
        realm: { roles: ['admin'] },
        'realm:x': { roles: ['admin'] },
      },
    },
    session: {
      keyId: 'webshop/36fa0f91-f94d-4a0c-afed-6b7d952e47da',
      sessionId: 'onrtac:d58f5dc8',
      scopes: [
        'email',
        'profile',
        'realm:offline_access',
        'realm:payer',
        'payments-api:payments.write',
        'account:view-profile',
      ],
    },
    denied: [
      { typ: 'ID' },
      { typ: 'Refresh' },
      { typ: undefined },
      { resource_access: [] },
      { aud: 'account' },
    ],
  },
  {
    preset: 'entra',
    source: 'https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference (v2.0)',
    header: { typ: 'JWT' },
    audience: '6e74172b-be56-4843-9ff4-e66a39bb12e3',
    claims: {
      iss: 'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0',
      ver: '2.0',
      aud: '6e74172b-be56-4843-9ff4-e66a39bb12e3',
      azp: '6e74172b-be56',
      azpacr: '0',
      name: 'Abe',
      oid: '690222be',
      sub: 'HKZpfaHyWadeOouYlitjrI',
      tid: '72f988bf',
      uti: 'fqiBqXLPj0eQa82S-IYFAA',
      scp: 'access_as_user Payments.Write',
      roles: ['Payments.Write', 'Payments.Approve'],
    },
    session: {
      accountId: 'HKZpfaHyWadeOouYlitjrI',
      sessionId: 'fqiBqXLPj0eQa82S-IYFAA',

      keyId: '6e74172b-be56/HKZpfaHyWadeOouYlitjrI',
      scopes: ['Payments.Write'],
    },
    denied: [{ azp: undefined }, { scp: 1 }],
  },
  {
    preset: 'cognito',
    source:
      'https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html',
    header: {},
    audience: 'xxxxxxxxxxxxexample',
    claims: {
      iss: 'https://cognito-idp.us-west-2.amazonaws.com/us-west-2_example',
      sub: 'aaaaaaaa-bbbb-cccc',
      client_id: 'xxxxxxxxxxxxexample',
      origin_jti: 'aaaaaaaa-1',
      event_id: 'aaaaaaaa-2',
      version: 2,
      token_use: 'access',
      scope: 'phone openid payments/write',
      auth_time: now,
      jti: 'aaaaaaaa-3',
      device_key: 'aaaaaaaa-4',
      'cognito:groups': ['testgroup'],
      username: 'my-test-user',
    },
    session: {
      accountId: 'aaaaaaaa-bbbb-cccc',
      keyId: 'xxxxxxxxxxxxexample/aaaaaaaa-bbbb-cccc',
      sessionId: 'aaaaaaaa-3',
      scopes: ['phone', 'openid', 'payments/write', 'group:testgroup'],
    },
    denied: [{ token_use: 'id' }, { client_id: 'another' }, { aud: 'https://other.example' }],
  },
  {
    preset: 'clerk',
    source: 'https://clerk.com/docs/guides/sessions/session-tokens (version 2)',
    header: { typ: 'JWT' },
    audience: 'https://example.com',
    claims: {
      iss: 'https://clerk.your-site.com',
      azp: 'https://example.com',
      v: 2,
      fva: [7, -1],
      sts: 'active',
      sid: 'sess_123',
      sub: 'user_123',
      pla: 'u:free',
      fea: 'o:dashboard,u:profile,o:impersonation',
      o: { id: 'org_123', slg: 'org-slug', rol: 'admin', per: 'manage,read', fpm: '3,2' },
    },
    session: {
      accountId: 'user_123',
      keyId: 'https:%2F%2Fexample.com/user_123',
      sessionId: 'sess_123',
      scopes: ['org:dashboard:manage', 'org:dashboard:read', 'org:impersonation:read'],
    },
    denied: [
      { azp: 'https://evil.example' },
      { azp: undefined },
      { sts: 'pending' },
      { sid: undefined },
      { o: 7 },
    ],
  },
  {
    preset: 'clerk',
    source: 'https://clerk.com/docs/guides/sessions/session-tokens (version 1)',
    header: { typ: 'JWT' },
    audience: 'https://example.com',
    claims: {
      iss: 'https://clerk.your-site.com',
      azp: 'https://example.com',
      sid: 'sess_123',
      sub: 'user_123',
      org_id: 'org_123',
      org_role: 'org:admin',
      org_permissions: ['org:dashboard:read'],
    },
    session: { scopes: ['org:dashboard:read'] },
    denied: [{ org_permissions: { all: true } }],
  },
  {
    preset: 'supabase',
    source: 'https://supabase.com/docs/guides/auth/jwt-fields',
    header: { typ: 'JWT' },
    audience: 'authenticated',
    claims: {
      iss: 'https://project-ref.supabase.co/auth/v1',
      aud: 'authenticated',
      role: 'authenticated',

      sub: '123e4567-e89b-12d3-a456-426614174000',
      aal: 'aal1',
      session_id: '6f1c',
      is_anonymous: false,
      email: 'user@example.com',
      phone: '',
      app_metadata: { provider: 'email' },
      user_metadata: {},
    },
    session: {
      accountId: '123e4567-e89b-12d3-a456-426614174000',
      sessionId: '6f1c',
      scopes: ['role:authenticated'],
      keyId: '123e4567-e89b-12d3-a456-426614174000',
    },
    denied: [{ role: undefined }, { session_id: undefined }, { sub: undefined }, { aud: 'anon' }],
  },
]

/** A guard as a team pastes it: the issuer, the audience, the preset. */
const guardFor = ({ preset, audience, claims }: Sample, more: ForeignClaims = {}) =>
  createGuard({
    issuer: claims.iss,
    audience,
    limits: [],
    keys: localKeys({ keys: [key.jwk] }),
    readSession: sessionReader({ preset, ...more }),
  })

async function send(guard: ReturnType<typeof guardFor>, claims: object, header: object) {
  const token = await new SignJWT({ ...times, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header })
    .sign(key.privateKey)
  return guard.authenticate({ authorization: `Bearer ${token}` })
}

for (const sample of samples) {
  t.test(`reads an access token of ${sample.preset} as documented: ${sample.source}`, async t => {
    const guard = guardFor(sample)
    const { claims, header, session } = sample
    t.match(await send(guard, claims, header), { ok: true, value: session })
    for (const change of sample.denied) {
      t.match(
        await send(guard, { ...claims, ...change }, header),
        { code: 'unauthorized' },
        JSON.stringify(change),
      )
    }
    t.match(await send(guard, { ...claims, iss: 'https://other.example' }, header), {
      reason: 'wrong issuer',
    })
    t.match(await send(guard, claims, { typ: 'id+jwt' }), { reason: 'wrong typ' })
    t.match(
      await send(guard, { ...claims, gw_policies: [] }, header),
      { reason: 'claims do not describe a session' },
      'a claim of session-issuer is never ignored',
    )
  })
}

/** A token with the given claims beside those of the sample, and the scopes that are read: by default, and with `mustAllow: 'either'`. */
type Cell = readonly [claims: object, both: readonly string[], either: readonly string[]]

const BOTH_SIDES: readonly (readonly [
  name: string,
  preset: ForeignClaims['preset'],
  client: string,
  user: string,
])[] = [
  ['auth0', 'auth0', 'scope', 'permissions'],
  ['entra', 'entra', 'scp', 'roles'],
  ['no preset', undefined, 'scope', 'permissions'],
  ['no preset', undefined, 'scp', 'permissions'],
]
for (const [name, preset, client, user] of BOTH_SIDES) {
  const cells: readonly (readonly [what: string, ...cell: Cell])[] = [
    ['only what the client may do', { [client]: 'a b' }, ['a', 'b'], ['a', 'b']],
    ['only what the user may do', { [user]: ['b', 'c'] }, ['b', 'c'], ['b', 'c']],
    ['both, with one name in common', { [client]: 'a b', [user]: ['b', 'c'] }, ['b'], ['a', 'b', 'c']],
    ['both, with no name in common', { [client]: 'a', [user]: ['c'] }, [], ['a', 'c']],
    ['a user who may do nothing', { [client]: 'a b', [user]: [] }, [], ['a', 'b']],
    ['a client that may do nothing', { [client]: '', [user]: ['b'] }, [], ['b']],
    ['neither', {}, [], []],
  ]
  t.test(`counts what client and user may both do: ${name}, ${client} and ${user}`, async t => {
    const wanted = preset ?? 'rfc9068'
    const sample = samples.find(each => each.preset === wanted) as Sample
    const rest = {
      ...sample.claims,
      scope: undefined,
      scp: undefined,
      permissions: undefined,
      roles: undefined,
    }
    const read = async (claims: object, more: ForeignClaims) => {
      const guard = createGuard({
        issuer: sample.claims.iss,
        audience: sample.audience,
        limits: [],
        keys: localKeys({ keys: [key.jwk] }),
        readSession: sessionReader(preset === undefined ? more : { preset, ...more }),
      })
      const verdict = await send(guard, { ...rest, ...claims }, sample.header)
      return verdict.ok ? verdict.value.scopes : verdict.reason
    }
    for (const [what, claims, both, either] of cells) {
      t.same(await read(claims, {}), both, what)
      t.same(await read(claims, { mustAllow: 'both' }), both, what)
      t.same(await read(claims, { mustAllow: 'either' }), either, `${what}, either`)
      for (const malformed of [null, 7, {}, [7]]) {
        for (const side of [client, user]) {
          const reason = await read({ ...claims, [side]: malformed }, {})
          t.equal(reason, 'claims do not describe a session', `${what}, malformed ${side}`)
        }
      }
    }
  })
}

t.test('mustAllow is rejected where a token does not say both, or where the claims are named', async t => {
  const wrong = (claims: object, message: RegExp): void =>
    void t.throws(() => sessionReader(claims), { name: 'TypeError', message })
  wrong({ mustAllow: 'all' }, /mustAllow must be "both" or "either", not "all"/)
  wrong({ preset: 'keycloak', mustAllow: 'either' }, /mustAllow .*auth0, entra.* preset "keycloak"/)
  wrong({ scopes: ['scope'], mustAllow: 'both' }, /mustAllow .*scopes/)
})

t.test('of claims that the option scopes names, each counts', async t => {
  const sample = samples.find(({ preset }) => preset === 'auth0') as Sample
  const scopes = async (names: readonly string[]): Promise<unknown> => {
    const verdict = await send(guardFor(sample, { scopes: names }), sample.claims, sample.header)
    return verdict.ok && verdict.value.scopes
  }
  t.same(await scopes(['permissions']), ['read:patients', 'read:admin'])
  t.same(await scopes(['scope', 'permissions']), ['openid', 'profile', 'read:patients', 'read:admin'])
})

t.test('reads an anonymous user of Supabase under a scope of its own', async t => {
  const sample = samples.find(({ preset }) => preset === 'supabase') as Sample
  const verdict = await send(guardFor(sample), { ...sample.claims, is_anonymous: true }, sample.header)
  t.match(verdict, { value: { scopes: ['role:anonymous'] } })
})

t.test('ignores permissions of Clerk whose bit mask or feature is malformed or missing', async t => {
  const sample = samples.find(({ preset }) => preset === 'clerk') as Sample
  const scopes = async (o: object, fea: unknown = 'o:a,o:b'): Promise<unknown> => {
    const verdict = await send(guardFor(sample), { ...sample.claims, o, fea }, sample.header)
    return verdict.ok && verdict.value.scopes
  }
  t.same(await scopes({ per: 'x,y', fpm: '-1,2' }), ['org:b:y'])
  t.same(await scopes({ per: 'x,y', fpm: '1,2,3' }), ['org:a:x', 'org:b:y'])
  t.same(await scopes({ per: 'x,y', fpm: '0,18446744073709551616' }), [])
  t.same(await scopes({ per: 'x,y', fpm: 3 }), [])
  t.same(await scopes({ per: 'x,y', fpm: '3' }, null), [])
})

t.test('counts each subject of a client by itself, or the client as a whole', async t => {
  const sample = samples[0] as Sample
  const keyId = async (claims: object, more: ForeignClaims = {}): Promise<unknown> => {
    const verdict = await send(guardFor(sample, more), { ...sample.claims, ...claims }, sample.header)
    return verdict.ok && verdict.value.keyId
  }
  t.equal(await keyId({ sub: 'ann' }), 's6BhdRkqt3/ann')
  t.equal(await keyId({ sub: 'bob' }), 's6BhdRkqt3/bob')
  t.equal(await keyId({ sub: 's6BhdRkqt3' }), 's6BhdRkqt3', 'a client that acts for itself')
  t.equal(await keyId({ sub: 'ann' }, { key: 'client' }), 's6BhdRkqt3')
  t.equal(await keyId({ sub: 'ann', org: 'o1' }, { account: 'org' }), 's6BhdRkqt3/ann', 'not the account')
  const pairs = [
    ['a/b', 'c'],
    ['a', 'b/c'],
    ['a%2Fb', 'c'],
    ['a/b/c', 'a/b/c'],
  ] as const
  const ids = await Promise.all(pairs.map(([client_id, sub]) => keyId({ client_id, sub })))
  t.equal(new Set(ids).size, pairs.length, 'no two pairs share a bucket')
})

t.test('limits per key do not let one user of an application use up the requests of the others', async t => {
  const sample = samples[0] as Sample
  const guard = createGuard({
    issuer: sample.claims.iss,
    audience: sample.audience,
    keys: localKeys({ keys: [key.jwk] }),
    limits: [{ name: 'perKey', points: 1, windowSeconds: 60, per: 'key' }],
  })
  const call = async (sub: string) => {
    const token = await new SignJWT({ ...times, ...sample.claims, sub })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'at+jwt' })
      .sign(key.privateKey)
    return guard.check({ authorization: `Bearer ${token}` }, { operation: 'a.b', allOf: ['profile'] })
  }
  t.match(await call('ann'), { ok: true })
  t.match(await call('ann'), { code: 'rate_limited' })
  t.match(await call('bob'), { ok: true })
})

t.test(
  'by default reads any token of RFC 9068, and a token with a gw_ claim our way or not at all',
  async t => {
    const sample = samples[0] as Sample
    const guard = createGuard({
      issuer: sample.claims.iss,
      audience: sample.audience,
      limits: [],
      keys: localKeys({ keys: [key.jwk] }),
      policies: async ids => ids.map(() => ({})),
      sessionPolicies: () => [],
    })
    const own = {
      gw_user: null,
      gw_wallet: null,
      gw_surface: 'partner',
      gw_key_version: 3,
      gw_policies: ['pol_1'],
    }
    t.match(await send(guard, sample.claims, sample.header), { ok: true, value: sample.session })
    t.match(await send(guard, { ...sample.claims, ...own }, sample.header), {
      ok: true,
      value: { keyId: 's6BhdRkqt3', surface: 'partner', keyVersion: 3, policyIds: ['pol_1'] },
    })
    const partial = Object.keys(own).map(name => ({ ...own, [name]: undefined }))
    for (const half of [...partial, ...Object.keys(own).map(name => ({ [name]: null })), { gw_other: 1 }]) {
      const verdict = await send(guard, { ...sample.claims, ...half }, sample.header)
      t.match(verdict, { reason: 'claims do not describe a session' }, JSON.stringify(half))
    }
    t.match(await send(guard, { ...sample.claims, client_id: undefined }, sample.header), {
      reason: 'claims do not describe a session',
    })
  },
)

t.test('the typ option replaces the types of a preset, and wrong options throw', async t => {
  const sample = samples[1] as Sample
  const guard = createGuard({
    issuer: sample.claims.iss,
    audience: sample.audience,
    typ: 'JWT',
    limits: [],
    keys: localKeys({ keys: [key.jwk] }),
    readSession: sessionReader({ preset: 'auth0' }),
  })
  t.match(await send(guard, sample.claims, { typ: 'JWT' }), { ok: true })
  t.match(await send(guard, sample.claims, { typ: 'at+jwt' }), { reason: 'wrong typ' })
  t.throws(
    () => sessionReader({ preset: 'auth1' as 'auth0' }),
    /preset must be "rfc9068", "auth0".* or "supabase", not "auth1"/,
  )
  t.throws(() => sessionReader({ key: 'user' as 'client' }), /key must be "subject" or "client", not "user"/)
})
