import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { discoverKeys, localKeys, remoteKeys, sessionReader, type KeySource } from '@gatewright/scope-guard'
import fc from 'fast-check'
import { exportJWK, type CryptoKey, type JWK } from 'jose'
import t, { type Test } from 'tap'
import { bench, claims, session, sign, signingKey, type SigningKey } from '../issuer.ts'
import { createPinnedKeyFinder } from '#packages/scope-guard/dist/token/keys.js'

const rule = { operation: 'cards.list', allOf: [] }
const unavailable = { name: 'Fault', code: 'ERR_KEYS_UNAVAILABLE' }

async function rsaKey(kid: string, modulusLength: number, publicExponent = 65_537): Promise<SigningKey> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength, publicExponent })
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg: 'RS256' }
  return { privateKey: privateKey as unknown as CryptoKey, jwk }
}

/** Sends a guard with these keys a token that claims to be by `key`; a junk signature, since a weak key signs nothing here. */
async function sender(keys: KeySource) {
  const { guard, clock } = await bench({ keys })
  const good = claims(session(clock.now()))
  const check = async (token: string) => guard.check({ authorization: `Bearer ${token}` }, rule)
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return {
    signed: async (key: SigningKey, header = {}) => check(await sign(key, good, header)),
    claimed: async ({ kid, alg }: JWK) =>
      check(`${encode({ kid, alg, typ: 'at+jwt' })}.${encode(good)}.AAAA`),
  }
}

/** A server of one JWKS that the test can replace. */
async function jwksServer(test: Test, keys: readonly JWK[]) {
  const published = { keys }
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(published))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.teardown(() => server.close())
  return { published, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) }
}

t.test('treats EdDSA and Ed25519 as the same algorithm, on tokens and on keys (RFC 9864)', async t => {
  const { jwk, privateKey } = await signingKey('EdDSA', 'ed')
  const { alg: _, ...unnamed } = jwk
  const spellings: JWK[] = [unnamed, { ...unnamed, alg: 'EdDSA' }, { ...unnamed, alg: 'Ed25519' }]
  for (const published of spellings) {
    const { signed } = await sender(localKeys({ keys: [published] }))
    for (const alg of ['EdDSA', 'Ed25519']) {
      t.match(await signed({ jwk, privateKey }, { alg }), { ok: true }, `${published.alg} and ${alg}`)
    }
  }
})

t.test('accepts neither name for a key of another type', async t => {
  const ec = await signingKey('ES256', 'ec')
  const { claimed } = await sender(localKeys({ keys: [ec.jwk] }))
  for (const alg of ['EdDSA', 'Ed25519', 'Ed448']) {
    t.match(await claimed({ kid: 'ec', alg }), { code: 'unauthorized' })
  }
  const renamed = await sender(localKeys({ keys: [{ ...ec.jwk, alg: 'Ed25519' }] }))
  t.match(await renamed.signed(ec, { alg: 'ES256' }), { code: 'unauthorized' })
  const ed = await signingKey('EdDSA', 'ed')
  const other = await sender(localKeys({ keys: [{ ...ed.jwk, alg: 'Ed448' }] }))
  t.match(await other.signed(ed, { alg: 'EdDSA' }), { code: 'unauthorized' })
})

t.test('rejects a static set with a weak RSA key at construction, and names the key', async t => {
  for (const [bits, exponent, cause] of [
    [1024, 65_537, /"weak".*1024 bits/],
    [2047, 65_537, /"weak".*2047 bits/],
    [2048, 3, /"weak".*exponent.*3/],
    [2048, 17, /"weak".*exponent.*17/],
  ] as const) {
    const { jwk } = await rsaKey('weak', bits, exponent)
    t.throws(() => localKeys({ keys: [jwk] }), { name: 'TypeError', message: cause })
    t.throws(() => localKeys({ keys: [{ ...jwk, alg: 'PS256' }] }), { name: 'TypeError', message: cause })
  }
  const { jwk } = await rsaKey('odd', 2048)
  t.throws(() => localKeys({ keys: [{ ...jwk, n: '!' }] }), /"odd".*got 1 bits/)
  t.throws(() => localKeys({ keys: [{ ...jwk, e: '!' }] }), /"odd".*exponent.*got 0/)
  const strong = await rsaKey('strong', 2048)
  t.match(await (await sender(localKeys({ keys: [strong.jwk] }))).signed(strong), { ok: true })
})

t.test('rejects a static set with a secret key at construction, and names the member', async t => {
  const { privateKey } = await signingKey('ES256')
  const secret = { ...(await exportJWK(privateKey)), kid: 'mine' }
  t.throws(() => localKeys({ keys: [secret] }), /the key mine has the secret member d, .*give the public key/)
  t.throws(
    () => localKeys({ keys: [{ kty: 'oct', k: '', kid: 'mac' }] }),
    /the key mac has the secret member k/,
  )
})

t.test('rejects a static set with two keys of one kid at construction, and names the kid', async t => {
  const [one, two] = [await signingKey('EdDSA', 'twin'), await signingKey('ES256', 'twin')]
  const twice = { name: 'TypeError', message: /"twin"/ }
  t.throws(() => localKeys({ keys: [one.jwk, two.jwk] }), twice)
  t.throws(() => localKeys({ keys: [one.jwk, one.jwk] }), twice)
  const encryption = { ...two.jwk, use: 'enc' }
  const { signed } = await sender(localKeys({ keys: [encryption, one.jwk] }))
  t.match(await signed(one), { ok: true }, 'a key that may not verify is not guessed at')
})

t.test(
  'throws a fault for tokens of a weak or ambiguous key in a set that can change, and verifies the others',
  async t => {
    const [good, weak] = [await signingKey('EdDSA', 'good'), await rsaKey('weak', 1024)]
    const [one, two] = [await signingKey('EdDSA', 'twin'), await signingKey('EdDSA', 'twin')]
    const keys = [weak.jwk, one.jwk, good.jwk, two.jwk]
    const { url } = await jwksServer(t, keys)
    for (const source of [localKeys(() => ({ keys })), remoteKeys(url)]) {
      const { signed, claimed } = await sender(source)
      t.match(await signed(good), { ok: true })
      await t.rejects(claimed(weak.jwk), { ...unavailable, message: /"weak".*1024 bits/ })
      await t.rejects(signed(one), { ...unavailable, message: /"twin"/ })
      await t.rejects(signed(two), { ...unavailable, message: /"twin"/ })
      t.match(await signed(good), { ok: true })
    }
  },
)

t.test('rejects a weak key of any key source with a fault that names it', async t => {
  const { jwk } = await rsaKey('weak', 2048, 3)
  const { claimed } = await sender(async () => jwk)
  await t.rejects(claimed(jwk), { ...unavailable, message: /"weak".*exponent/ })
})

t.test('verifies tokens of a remote kid again as soon as the set contains it once', async t => {
  const [one, two] = [await signingKey('EdDSA', 'twin'), await signingKey('EdDSA', 'twin')]
  const { url, published } = await jwksServer(t, [one.jwk, two.jwk])
  const { signed } = await sender(remoteKeys(url, { maxAgeMs: 0 }))
  await t.rejects(signed(one), unavailable)
  published.keys = [one.jwk]
  t.match(await signed(one), { ok: true })
  t.match(await signed(two), { code: 'unauthorized' })
})

t.test(
  'accepts an RSA modulus of 2,048 bits or more with any zero padding, and rejects a shorter one',
  async () => {
    const top = fc.integer({ min: 1, max: 255 })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        top,
        fc.integer({ min: 0, max: 3 }),
        (length, first, zeros) => {
          const bytes = Buffer.concat([
            Buffer.alloc(zeros),
            Buffer.from([first]),
            Buffer.alloc(length - 1, 1),
          ])
          const bits = (length - 1) * 8 + (32 - Math.clz32(first))
          const jwk = { kty: 'RSA', kid: 'k', e: 'AQAB', n: bytes.toString('base64url') }
          let rejected = false
          try {
            localKeys({ keys: [jwk] })
          } catch {
            rejected = true
          }
          return rejected === bits < 2048
        },
      ),
    )
  },
)

t.test('finds a key that it knows without a promise, if its object cannot change', async t => {
  const { jwk } = await signingKey('ES256', 'ec')
  const find = createPinnedKeyFinder(() => Object.freeze(jwk), 'RS256')
  t.match(await find('ec'), { algorithm: 'ES256' })
  t.notOk(find('ec') instanceof Promise)
  const findMutable = createPinnedKeyFinder(() => ({ ...jwk }), 'RS256')
  const imported = await findMutable('ec')
  const again = findMutable('ec')
  t.ok(again instanceof Promise)
  t.equal(await again, imported, 'a key is imported once')
})

t.test('returns the first key of a kid of which none may verify, so that it causes no fetch', async t => {
  const { jwk } = await signingKey('ES256', 'ec')
  const keys = [
    { ...jwk, use: 'enc', n: 'first' },
    { ...jwk, use: 'enc', n: 'second' },
  ]
  t.same(await localKeys(() => ({ keys }))('ec'), keys[0])
  t.same(await localKeys({ keys })('ec'), keys[0])
})

t.test(
  'names why a key set is unavailable, with the code of the cause unless its message has it',
  async t => {
    const { fetch } = globalThis
    t.teardown(() => (globalThis.fetch = fetch))
    const error = (message: string, code: unknown): Error => Object.assign(new Error(message), { code })
    const failed = (cause: unknown): Error => new TypeError('fetch failed', { cause })
    for (const [thrown, message] of [
      [failed(error('no such host', 'ENOTFOUND')), /: no such host \(ENOTFOUND\)$/],
      [failed(error('connect ECONNREFUSED ::1', 'ECONNREFUSED')), /: connect ECONNREFUSED ::1$/],
      [failed(error('closed', undefined)), /: closed$/],
      [failed(error('closed', 7)), /: closed$/],
      [failed('closed'), /: fetch failed$/],
      ['closed', /: closed$/],
    ] as const) {
      globalThis.fetch = () => Promise.reject(thrown)
      const keys = remoteKeys(new URL('https://issuer.example/keys'))
      await t.rejects(async () => keys('ec'), { ...unavailable, message })
    }
  },
)

t.test('accepts each number up to its bounds, and names the option of a number beyond', async t => {
  for (const [name, least, most] of [
    ['maxAgeMs', 0, 604_800_000],
    ['cooldownMs', 0, 3_600_000],
    ['timeoutMs', 1, 60_000],
  ] as const) {
    const open = (value: number) => remoteKeys(new URL('https://issuer.example'), { [name]: value })
    for (const good of [least, most]) t.doesNotThrow(() => open(good))
    for (const bad of [least - 1, most + 1, 1.5])
      t.throws(() => open(bad), new RegExp(`^remoteKeys: ${name} must be an integer`))
  }
})

t.test('rejects an option that it does not know', async t => {
  const url = 'https://issuer.example'
  const unknown = { maxAge: 1 } as object
  const message = (where: string): RegExp => new RegExp(`^${where}: unknown option "maxAge"`)
  t.throws(() => remoteKeys(new URL(url), unknown), message('remoteKeys'))
  t.throws(() => discoverKeys(url, unknown), message('discoverKeys'))
  t.throws(() => sessionReader(unknown), message('sessionReader'))
})

t.test('accepts http: only to this machine, unless allowHttp is set', async t => {
  const open = (address: string, options = {}) => remoteKeys(new URL(address), options)
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '127.255.255.254',
    '[::1]',
    '[0:0::1]',
    'localhost',
    'LOCALHOST',
  ]) {
    t.doesNotThrow(() => open(`http://${host}:8080/jwks.json`), host)
  }
  for (const host of [
    'issuer.example',
    '10.0.0.1',
    '128.0.0.1',
    '127.0.0.1.example',
    '127.example',
    'localhost.example',
    'localhost.',
    'a.localhost',
    '[::2]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '127.0.0.1@issuer.example',
  ]) {
    t.throws(
      () => open(`http://${host}/jwks.json`),
      /^remoteKeys: http:\/\/.* can forge tokens: use https:, or set allowHttp: true/,
    )
    t.doesNotThrow(() => open(`http://${host}/jwks.json`, { allowHttp: true }))
    t.doesNotThrow(() => open(`https://${host}/jwks.json`, { allowHttp: undefined }))
  }
  t.throws(
    () => open('http://10.0.0.1/', { allowHttp: 'yes' }),
    /allowHttp must be true or false, not string/,
  )
  t.throws(() => open('ftp://127.0.0.1/'), /must begin with https:, got ftp:/)
  t.throws(() => remoteKeys('https://issuer.example' as never), /must be a URL object, got string/)
})

t.test(
  'rejects an invalid local key set at construction, and ignores further members of a valid one (RFC 7517)',
  async t => {
    for (const given of [undefined, null, {}, { keys: {} }, [], 'jwks']) {
      t.throws(
        () => localKeys(given as never),
        /localKeys: the key set must be \{ keys: \[\.\.\.\] \} or a function/,
      )
    }
    t.doesNotThrow(() => localKeys({ keys: [], issuedBy: 'us' } as never))
  },
)
