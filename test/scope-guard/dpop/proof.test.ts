import { createHash } from 'node:crypto'
import { createGuard, localKeys, type LimiterStore, type GuardOptions } from '@gatewright/scope-guard'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { calculateJwkThumbprint, SignJWT, type JWK } from 'jose'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import t from 'tap'
import { bench, claims, session, sign, signingKey, type SigningKey } from '../issuer.ts'
import { startProvider } from '../token/oidc-provider.ts'

const origin = 'https://api.test'
const path = '/cards'
const url = origin + path
const method = 'POST'
const rule = { operation: 'cards.create', allOf: ['cards.write'] }

async function clientKey(alg = 'ES256') {
  const key = await signingKey(alg, 'client')
  const { kty, crv, x, y, n, e } = key.jwk
  const jwk = Object.fromEntries(Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value)) as JWK
  return { ...key, jwk, alg, thumbprint: await calculateJwkThumbprint(jwk) }
}
type ClientKey = Awaited<ReturnType<typeof clientKey>>
const ec = await clientKey()

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')
let proofs = 0

async function bound(options: Partial<GuardOptions> = {}, key: ClientKey = ec) {
  const dpop = { nonces: memoryNonces(), origin }
  const { guard, clock, key: issuerKey } = await bench({ dpop, ...options })
  const token = await sign(issuerKey, { ...claims(session(clock.now())), cnf: { jkt: key.thumbprint } })
  const proof = (changes: object = {}, header: object = {}, by: SigningKey = key): Promise<string> =>
    new SignJWT({
      jti: `proof-${++proofs}`,
      htm: method,
      htu: url,
      iat: clock.now() / 1000,
      ath: hashOf(token),
      ...changes,
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: key.alg, jwk: key.jwk, ...header })
      .sign(by.privateKey)
  const send = (dpop: string | undefined, changes: object = {}) =>
    guard.check({ authorization: `DPoP ${token}`, dpop, method, url, address: '192.0.2.1', ...changes }, rule)
  return { guard, clock, issuerKey, token, proof, send }
}

const denied = (reason: string) => ({ ok: false, code: 'invalid_dpop_proof', status: 401, reason })

t.test('accepts a bound token with a proof, of every algorithm, also when the token is cached', async t => {
  for (const alg of ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256', 'PS256']) {
    const { proof, send } = await bound({}, await clientKey(alg))
    t.match(await send(await proof()), { ok: true }, alg)
    t.match(await send(await proof()), { ok: true }, `${alg}, cached`)
  }
  const { proof, send, token } = await bound()
  t.match(
    await send(await proof(), { authorization: `dpop ${token}` }),
    { ok: true },
    'the scheme has no case',
  )
})

t.test('a bound token is not a bearer token', async t => {
  const { proof, send, token } = await bound()
  const noProof = denied('the token is bound, and the request has no DPoP proof')
  const bearer = { authorization: `Bearer ${token}` }
  for (const time of ['new', 'cached']) {
    t.match(await send(undefined, bearer), noProof, time)
    t.match(await send(undefined), noProof, time)
    t.match(await send(await proof(), bearer), denied('the token is bound, and its scheme is not DPoP'), time)
  }
  const verdict = await send(undefined)
  t.match(!verdict.ok && verdict.headers, [
    ['WWW-Authenticate', /^DPoP realm="api", error="invalid_dpop_proof", algs="ES256 /],
  ])
})

t.test('a guard without nonce storage denies bound tokens and says why, and accepts others', async t => {
  const { guard, bearer, clock, key } = await bench()
  const token = await sign(key, { ...claims(session(clock.now())), cnf: { jkt: ec.thumbprint } })
  for (const scheme of ['DPoP', 'Bearer']) {
    const verdict = await guard.authenticate({
      authorization: `${scheme} ${token}`,
      dpop: 'a.b.c',
      method,
      url,
    })
    t.match(verdict, denied('the token is bound, and the guard has no dpop option'))
  }
  t.match(await guard.authenticate({ authorization: await bearer() }), { ok: true })
})

t.test(
  'an unbound token is denied with the scheme DPoP, and a stray proof with a bearer token is ignored',
  async t => {
    const { guard, bearer } = await bench({ dpop: { nonces: memoryNonces(), origin } })
    const authorization = await bearer()
    const dpop = authorization.replace('Bearer', 'DPoP')
    t.match(await guard.authenticate({ authorization, dpop: 'x', method, url }), { ok: true })
    t.match(
      await guard.authenticate({ authorization: dpop, method, url }),
      denied('the token is not bound, and its scheme is DPoP'),
    )
  },
)

t.test('denies tokens that are bound in a way that it cannot check', async t => {
  const { guard, clock, issuerKey } = await bound()
  const cnfs = [
    null,
    7,
    'x',
    [],
    {},
    { jkt: '' },
    { jkt: 7 },
    { 'x5t#S256': 'a' },
    { kid: 'a' },
    { 'x5t#S256': 'a', jkt: '' },
  ]
  for (const cnf of cnfs) {
    const token = await sign(issuerKey, { ...claims(session(clock.now())), cnf })
    const verdict = await guard.authenticate({ authorization: `Bearer ${token}` })
    t.match(
      verdict,
      { code: 'unauthorized', reason: 'the token is bound in a way that is not supported' },
      JSON.stringify(cnf),
    )
  }
})

t.test('only jkt decides how a token is bound: other members of cnf are ignored', async t => {
  const { clock, issuerKey, guard, proof } = await bound()
  const others = [{ 'kc-jkt-type': 'dpop' }, { 'x5t#S256': 'a' }, { jwk: ec.jwk, kid: 7 }, { '': null }]
  for (const other of others) {
    const text = await sign(issuerKey, {
      ...claims(session(clock.now())),
      cnf: { ...other, jkt: ec.thumbprint },
    })
    const facts = { authorization: `DPoP ${text}`, method, url: path }
    t.match(await guard.authenticate({ ...facts, dpop: await proof({ ath: hashOf(text) }) }), { ok: true })
    t.match(
      await guard.authenticate({ ...facts, authorization: `Bearer ${text}` }),
      denied('the token is bound, and the request has no DPoP proof'),
      JSON.stringify(other),
    )
  }
})

t.test('makes every check of RFC 9449 section 4.3', async t => {
  const { proof, send, clock, token } = await bound()
  const [other, symmetric] = [await clientKey(), new TextEncoder().encode('x'.repeat(32))]
  const seconds = clock.now() / 1000
  const unsigned = (header: object): string => {
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const body = { jti: 'u', htm: method, htu: url, iat: seconds, ath: hashOf(token) }
    return `${encode({ typ: 'dpop+jwt', alg: 'ES256', jwk: ec.jwk, ...header })}.${encode(body)}.AAAA`
  }
  const [head, payload] = unsigned({}).split('.') as [string, string]
  const hs = await new SignJWT({ jti: 'h', htm: method, htu: url, iat: seconds, ath: hashOf(token) })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'HS256', jwk: { kty: 'oct' } })
    .sign(symmetric)
  const lacks = 'the DPoP proof lacks jti, htm, htu, iat or ath'
  const key = 'the DPoP proof has no public key'
  const algorithm = 'the algorithm of the DPoP proof is not accepted'
  const jws = 'the DPoP proof is not a canonical compact JWS'
  const elsewhere = 'the DPoP proof is for another URL'
  const rsa = (modulusBytes: number, exponentBytes: number) => ({
    kty: 'RSA',
    n: Buffer.alloc(modulusBytes, 0xff).toString('base64url'),
    e: Buffer.alloc(exponentBytes, 0xff).toString('base64url'),
  })
  const cases: readonly (readonly [check: string, proof: string, reason: string])[] = [
    ['1: several fields', `${await proof()}, ${await proof()}`, 'more than one DPoP proof'],
    ['2: no JWT', 'x', jws],
    ['2: empty', '', jws],
    ['2: padding', `${await proof()}=`, jws],
    ['2: no JSON', 'AAAA.AAAA.AAAA', jws],
    ['2: no JSON header', `AAAA.${payload}.AAAA`, jws],
    ['2: no JSON claims', `${head}.AAAA.AAAA`, jws],
    ['2: too long', await proof({ more: 'x'.repeat(9000) }), jws],
    ...(await Promise.all(
      ['jti', 'htm', 'htu', 'iat', 'ath'].map(
        async name => [`3: no ${name}`, await proof({ [name]: undefined }), lacks] as const,
      ),
    )),
    ['3: jti is no text', await proof({ jti: 7 }), lacks],
    ['4: typ', await proof({}, { typ: 'JWT' }), 'wrong typ of the DPoP proof'],
    ['4: no typ', await proof({}, { typ: undefined }), 'wrong typ of the DPoP proof'],
    ['5: none', unsigned({ alg: 'none' }), algorithm],
    ['5: symmetric', hs, algorithm],
    ['5: not of the key', unsigned({ alg: 'ES384' }), algorithm],
    ['5: unknown', unsigned({ alg: 'XX' }), algorithm],
    ['5: RSA with a curve', unsigned({ alg: 'RS256' }), algorithm],
    ['5: a curve with RSA', unsigned({ alg: 'ES256', jwk: rsa(512, 4) }), algorithm],
    ['5: symmetric with RSA', unsigned({ alg: 'HS256', jwk: rsa(512, 4) }), algorithm],
    ['5: a weak key', unsigned({ alg: 'RS256', jwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB' } }), algorithm],
    ['5: a costly key', unsigned({ alg: 'RS256', jwk: rsa(513, 3) }), algorithm],
    ['5: a costly exponent', unsigned({ alg: 'RS256', jwk: rsa(512, 5) }), algorithm],
    ['5: the most', unsigned({ alg: 'RS256', jwk: rsa(512, 4) }), 'the DPoP proof is by another key'],
    ['6: another signer', await proof({}, {}, other), 'invalid signature of the DPoP proof'],
    ['6: no signature', unsigned({}), 'invalid signature of the DPoP proof'],
    ['7: private key', unsigned({ jwk: { ...ec.jwk, d: 'AAAA' } }), key],
    ['7: no key', unsigned({ jwk: undefined }), key],
    ...[null, [], [ec.jwk], 'x'].map(jwk => [`7: ${JSON.stringify(jwk)}`, unsigned({ jwk }), key] as const),
    ['7: malformed key', unsigned({ jwk: { ...ec.jwk, x: 7 } }), key],
    ['7: malformed member of another type of key', unsigned({ jwk: { ...ec.jwk, n: 7 } }), key],
    ['7: half a key', unsigned({ jwk: { kty: 'EC', crv: 'P-256' } }), key],
    ['7: unknown kty', unsigned({ jwk: { kty: 'X', crv: 'P-256' } }), key],
    ['8: htm', await proof({ htm: 'GET' }), 'the DPoP proof is for another method'],
    ['8: case', await proof({ htm: 'post' }), 'the DPoP proof is for another method'],
    ['9: path', await proof({ htu: `${url}/1` }), elsewhere],
    ['9: host', await proof({ htu: 'https://evil.test/cards' }), elsewhere],
    ['9: scheme', await proof({ htu: 'http://api.test/cards' }), elsewhere],
    ['9: port', await proof({ htu: 'https://api.test:8443/cards' }), elsewhere],
    ['9: no URL', await proof({ htu: '/cards' }), elsewhere],
    ['11: too old', await proof({ iat: seconds - 60 }), 'the DPoP proof is too old'],
    ['11: future', await proof({ iat: seconds + 6 }), 'the DPoP proof was issued in the future'],
    ['12: ath', await proof({ ath: hashOf('other') }), 'the DPoP proof is for another token'],
    ['12: another key', await proof({}, { jwk: other.jwk }, other), 'the DPoP proof is by another key'],
    [
      'crit',
      await proof({}, { crit: ['exp'], exp: 1 }).catch(() => unsigned({ crit: ['exp'] })),
      'crit header of the DPoP proof',
    ],
  ]
  for (const [check, text, reason] of cases) {
    // Each from its own address: the budget of failures is not what is tested.
    t.match(
      await send(text, { address: `192.0.2.${cases.findIndex(([name]) => name === check)}` }),
      denied(reason),
      check,
    )
  }
  t.match(await send(await proof({ htu: `${url}?a=1#b` })), { ok: true }, '9: query and fragment are ignored')
  t.match(await send(await proof({ htu: 'HTTPS://API.test:443/cards' })), { ok: true }, '9: normalized')
  t.match(await send(await proof(), { url: `${url}?page=2` }), { ok: true }, '9: query of the request')
  t.match(await send(await proof({ iat: seconds - 59 })), { ok: true }, '11: old enough')
  t.match(await send(await proof({ iat: seconds + 5 })), { ok: true }, '11: within the tolerance')
  for (const unknown of [
    { method: undefined },
    { url: undefined },
    { url: '' },
    { url: 'cards' },
    { url: 'x:' },
  ])
    t.match(await send(await proof(), unknown), denied('the guard was not given the method and a valid URL'))
})

t.test('accepts a proof of 8,192 characters and denies a longer one', async t => {
  const { proof, send } = await bound()
  /** Signs a proof that is `length` characters long: base64url of one text alone cannot have every length. */
  const ofLength = async (length: number): Promise<string> => {
    for (const more of ['', 'x', 'xx', 'xxx'])
      for (let size = 5500; size < 6000; size++) {
        const missing = length - (await proof({ more: 'x'.repeat(size) }, { more })).length
        if (missing === 0) return proof({ more: 'x'.repeat(size) }, { more })
        if (missing < 0) break
        size += Math.floor(missing / 2)
      }
    throw new Error(`no proof has ${length} characters`)
  }
  t.match(await send(await ofLength(8192)), { ok: true })
  t.match(await send(await ofLength(8193)), denied('the DPoP proof is not a canonical compact JWS'))
})

t.test('denies a proof by a key that is no point of its curve', async t => {
  const jwk = { ...ec.jwk, y: ec.jwk.x as string }
  const { proof, send } = await bound({}, { ...ec, jwk, thumbprint: await calculateJwkThumbprint(jwk) })
  t.match(await send(await proof()), denied('invalid signature of the DPoP proof'))
})

t.test('denies after the shared store has counted the failure', async t => {
  let counted = 0
  const store: LimiterStore = settings => {
    const limiter = new RateLimiterMemory(settings)
    const consume: typeof limiter.consume = async (...args) => {
      await new Promise(resolve => setImmediate(resolve))
      counted++
      return RateLimiterMemory.prototype.consume.apply(limiter, args)
    }
    return Object.assign(limiter, { consume })
  }
  const { proof, send } = await bound({ failedCredentials: { store } })
  t.match(await send(await proof({ htm: 'GET' })), denied('the DPoP proof is for another method'))
  t.equal(counted, 1)
})

t.test(
  'of any number of simultaneous requests with one proof, one passes, on two guards with one storage',
  async t => {
    const nonces = memoryNonces()
    const { proof, send, guard, token, clock, issuerKey } = await bound({ dpop: { nonces, origin } })
    const second = createGuard({
      issuer: 'https://issuer.test',
      audience: 'https://api.test',
      clock,
      limits: [],
      dpop: { nonces, origin },
      keys: localKeys({ keys: [issuerKey.jwk] }),
    })
    for (let round = 0; round < 5; round++) {
      const dpop = await proof()
      const facts = { authorization: `DPoP ${token}`, dpop, method, url }
      const verdicts = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => (index % 2 === 0 ? guard : second).check(facts, rule)),
      )
      t.equal(verdicts.filter(({ ok }) => ok).length, 1)
      t.ok(verdicts.every(verdict => verdict.ok || verdict.reason === 'the DPoP proof was used before'))
    }
    const last = await proof()
    t.match(await send(last), { ok: true })
    clock.advance(59_000)
    t.match(await send(last), denied('the DPoP proof was used before'))
    clock.advance(1000)
    t.match(await send(last), denied('the DPoP proof is too old'), 'forgotten only when it is too old')
  },
)

t.test('an invalid proof does not use up the jti of a valid one', async t => {
  const { proof, send } = await bound()
  const other = await clientKey()
  t.match(await send(await proof({ jti: 'same' }, {}, other)), denied('invalid signature of the DPoP proof'))
  t.match(await send(await proof({ jti: 'same' })), { ok: true })
  t.match(await send(await proof({ jti: 'same', iat: 1 })), denied('the DPoP proof is too old'))
  t.match(await send(await proof({ jti: 'same' })), denied('the DPoP proof was used before'))
})

t.test('a nonce storage that fails, hangs or is malformed is a fault, never a yes or a 401', async t => {
  const stores = [
    [async () => Promise.reject(new Error('down')), 'ERR_STORE_UNAVAILABLE'],
    [() => new Promise<boolean>(() => {}), 'ERR_STORE_UNAVAILABLE'],
    [async () => 'OK' as never, 'ERR_STORE_REPLY'],
    [async () => undefined as never, 'ERR_STORE_REPLY'],
  ] as const
  for (const [claim, code] of stores) {
    const { proof, send } = await bound({ dpop: { nonces: { claim }, origin }, storeTimeoutMs: 50 })
    await t.rejects(send(await proof()), { name: 'Fault', code })
  }
})

t.test('failed proofs are charged to the address', async t => {
  const { proof, send } = await bound({ failedCredentials: { points: 2, waiting: 1, waitingPerAddress: 1 } })
  for (let i = 0; i < 3; i++) await send(await proof({ htm: 'GET' }))
  const proofsOfFlood = await Promise.all(Array.from({ length: 30 }, async () => proof({ htm: method })))
  const verdicts = await Promise.all(proofsOfFlood.map(async text => send(text)))
  t.ok(
    verdicts.some(verdict => !verdict.ok && verdict.code === 'rate_limited'),
    'the rest is checked at low priority',
  )
  t.ok(verdicts.every(verdict => verdict.ok || verdict.code === 'rate_limited'))
})

t.test('compares with the origins of the option, each in full', async t => {
  const origins = ['https://api.test', 'https://pay.test:8443', 'http://localhost:3000']
  const { proof, send } = await bound({ dpop: { nonces: memoryNonces(), origin: origins } })
  for (const each of origins) {
    // A server sees a path, or a URL with whatever Host was sent: only the path counts.
    for (const received of [path, `${path}?x=1`, url, 'http://10.0.0.7:8080/cards?x=1']) {
      const verdict = await send(await proof({ htu: each + path }), { url: received })
      t.match(verdict, { ok: true }, `${each} at ${received}`)
    }
  }
  const elsewhere = [
    'https://pay.test',
    'http://api.test',
    'https://api.test.evil.test',
    'https://x@evil.test',
  ]
  for (const each of elsewhere) {
    const verdict = await send(await proof({ htu: each + path }), { url: each + path })
    t.match(verdict, denied('the DPoP proof is for another URL'), each)
  }
})

t.test('an origin may have the path that a proxy removes, and no request leads out of it', async t => {
  const base = 'https://api.test/pay/v1'
  const { proof, send } = await bound({
    dpop: { nonces: memoryNonces(), origin: ['https://old.test', base] },
  })
  for (const htu of [`${base}${path}`, `${base}${path}?x=1`, `https://old.test${path}`])
    t.match(await send(await proof({ htu }), { url: path }), { ok: true }, htu)
  t.match(await send(await proof({ htu: `${base}/` }), { url: '/' }), { ok: true }, 'the root')
  const other = denied('the DPoP proof is for another URL')
  const origins = [
    'https://api.test',
    'https://api.test/pay',
    'https://api.test/pay/v10',
    'https://old.test/pay/v1',
  ]
  for (const each of origins)
    t.match(await send(await proof({ htu: each + path }), { url: path }), other, each)
  for (const up of ['/../admin', '/..%2f..%2fadmin', '/%2e%2e/admin', '/x/../../admin', '//../admin'])
    t.match(await send(await proof({ htu: 'https://api.test/pay/admin' }), { url: up }), other, up)
})

t.test('no path changes the origin that a proof is compared with', async t => {
  const { proof, send } = await bound()
  for (const each of [
    '//evil.test/cards',
    '/\\\\evil.test/cards',
    '/@evil.test/cards',
    '/..//evil.test',
    '/%',
    '/#',
  ]) {
    t.match(await send(await proof({ htu: origin + each }), { url: each }), { ok: true }, each)
    const stolen = await proof({ htu: new URL(each, 'https://evil.test').href })
    t.match(await send(stolen, { url: each }), denied('the DPoP proof is for another URL'), each)
  }
})

t.test('what a proof binds to comes from the options: without an origin no guard is made', async t => {
  const nonces = memoryNonces()
  const wrong = (dpop: object, message: RegExp): void =>
    void t.throws(() => createGuard({ issuer: 'https://i.test', audience: 'a', dpop: dpop as never }), {
      name: 'TypeError',
      message,
    })
  wrong({ origin }, /nonces must be a nonce storage/)
  wrong(
    { nonces },
    /createGuard dpop: origin must be .*"https:\/\/api.example".*, got undefined: set it to the public URL/,
  )
  wrong({ nonces, origin: [] }, /origin must be .* got \[\]/)
  for (const bad of [
    'https://api.test/',
    'api.test',
    'https://api.test:443',
    'HTTPS://api.test',
    'ftp://a',
    'https://api.test/pay/',
    'https://api.test/pay?x',
    'https://api.test/pay?',
    'https://api.test/pay#x',
    'https://api.test/a/../pay',
    'https://api.test//',
    'https://me@api.test/pay',
    '',
    7,
  ]) {
    wrong({ nonces, origin: bad }, /origin must be the scheme and authority/)
    wrong({ nonces, origin: [origin, bad] }, /origin must be the scheme and authority/)
  }
})

t.test('accepts bound tokens that a real provider issues', async t => {
  const { issuer, audience, token } = await startProvider(t)
  const guard = createGuard({ issuer, audience, dpop: { nonces: memoryNonces(), origin } })
  const prove = (claims: object): Promise<string> =>
    new SignJWT({ jti: `real-${++proofs}`, iat: Math.floor(Date.now() / 1000), htm: 'POST', ...claims })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: ec.jwk })
      .sign(ec.privateKey)
  const text = await token('ES256', 'payments.write', { dpop: await prove({ htu: `${issuer}/token` }) })
  const facts = {
    authorization: `DPoP ${text}`,
    method,
    url,
    dpop: await prove({ htu: url, ath: hashOf(text) }),
  }
  t.match(await guard.authenticate(facts), { ok: true, value: { keyId: 'client-ES256' } })
  t.match(await guard.authenticate(facts), denied('the DPoP proof was used before'))
  t.match(
    await guard.authenticate({ authorization: `Bearer ${text}` }),
    denied('the token is bound, and the request has no DPoP proof'),
  )
})
