import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { localKeys, type KeySource } from '@gatewright/scope-guard'
import fc from 'fast-check'
import { base64url, type JWK } from 'jose'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { AUDIENCE, bench, claims, ISSUER, session, sign, signingKey } from '../issuer.ts'

const rule = { operation: 'cards.list', allOf: [] }
const encode = (value: unknown): string => base64url.encode(JSON.stringify(value))

/** A guard and a function that sends it a raw token. */
async function setUp(options: Parameters<typeof bench>[0] = {}) {
  const made = await bench(options)
  const good = claims(session(made.clock.now()))
  const send = (token: string) => made.guard.check({ authorization: `Bearer ${token}` }, rule)
  return { ...made, good, send }
}
const denied = { ok: false, code: 'unauthorized', status: 401 }
/** Not a credential at all (RFC 6750 section 3.1), or not a valid token. */
const notAccepted = { ok: false, code: /^(?:invalid_request|unauthorized)$/ }

t.test('denies alg none, with and without a signature (CVE-2015-9235 and similar)', async t => {
  const { send, good, key } = await setUp()
  for (const alg of ['none', 'None', 'NONE', '']) {
    const head = encode({ alg, typ: 'at+jwt', kid: key.jwk.kid })
    t.match(await send(`${head}.${encode(good)}.`), denied)
    t.match(await send(`${head}.${encode(good)}.AAAA`), denied)
  }
})

t.test('denies symmetric keys, an empty secret among them (fast-jwt issue 609)', async t => {
  for (const k of ['', base64url.encode('secret')]) {
    const keys = localKeys(() => ({ keys: [{ kty: 'oct', k, kid: 'mac', alg: 'HS256' }] }))
    const { send, good } = await setUp({ keys })
    const head = encode({ alg: 'HS256', typ: 'at+jwt', kid: 'mac' })
    const mac = createHmac('sha256', base64url.decode(k))
      .update(`${head}.${encode(good)}`)
      .digest('base64url')
    t.match(await send(`${head}.${encode(good)}.${mac}`), denied)
  }
})

t.test('denies private keys, encryption keys and keys without the verify operation in the set', async t => {
  const { jwk, privateKey } = await signingKey('ES256')
  const changes = [{ d: 'AAAA' }, { use: 'enc' }, { key_ops: ['sign'] }, { alg: 'ES512' }]
  for (const change of changes) {
    const { send, good } = await setUp({ keys: localKeys(() => ({ keys: [{ ...jwk, ...change }] })) })
    t.match(await send(await sign({ jwk, privateKey }, good, { alg: 'ES256' })), denied)
  }
})

t.test('denies a token that brings or points to its own key: jwk, jku, x5u, x5c', async t => {
  const { send, good, key } = await setUp()
  const attacker = await signingKey('EdDSA', key.jwk.kid)
  for (const header of [
    { jwk: attacker.jwk },
    { jku: 'https://evil.test/jwks' },
    { x5u: 'https://evil.test' },
  ]) {
    t.match(await send(await sign(attacker, good, header)), denied)
    t.match(await send(await sign(key, good, header)), denied)
  }
})

t.test('denies a signed payload that is not an object (fast-jwt issue 639)', async t => {
  const { send, good, key } = await setUp()
  for (const payload of [[good], 'text', 1, null, true]) {
    const input = `${encode({ alg: 'EdDSA', typ: 'at+jwt', kid: key.jwk.kid })}.${encode(payload)}`
    const { subtle } = globalThis.crypto
    const signature = await subtle.sign('Ed25519', key.privateKey, new TextEncoder().encode(input))
    t.match(await send(`${input}.${base64url.encode(new Uint8Array(signature))}`), denied)
  }
})

t.test(
  'denies every non-canonical spelling of a valid token (fast-jwt issue 606, jose trailing newline)',
  async t => {
    const { send, good, key } = await setUp()
    const token = await sign(key, good)
    t.match(await send(token), { ok: true })
    const last = token.at(-1) as string
    const spellings = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
      .filter(char => char !== last)
      .map(char => token.slice(0, -1) + char)
    for (const tail of ['\n', '=', '==', ' ', '\t', '\r\n', '.', '\0']) spellings.push(token + tail)
    spellings.push(token.replace('.', '=.'), token.replaceAll('-', '+').replaceAll('_', '/'))
    for (const spelling of spellings) {
      if (spelling === token) continue
      const verdict = await send(spelling)
      const code = verdict.ok ? 'accepted' : verdict.code
      assert.match(code, notAccepted.code, JSON.stringify(spelling.slice(-6)))
    }
    t.pass('no spelling was accepted')
  },
)

t.test(
  'denies a segment of a length that no bytes have, although a decoder ignores its last letter',
  async t => {
    const key = await signingKey('ES384')
    const { send, good } = await setUp({ keys: localKeys({ keys: [key.jwk] }) })
    const token = await sign(key, good)
    t.match(await send(token), { ok: true })
    // The signature has 96 bytes, which are 128 letters.
    for (const letter of ['A', 'Q', '_'])
      t.match(await send(token + letter), { ...denied, reason: 'not a canonical compact JWS' })
  },
)

t.test('distinguishes cached tokens that share any part (fast-jwt GHSA-rp9m-7r4c-75qg)', async t => {
  const { send, good, key, clock } = await setUp()
  const one = await sign(key, good)
  const two = await sign(key, claims(session(clock.now(), { accountId: 'acc_2' })))
  t.match(await send(one), { value: { session: { accountId: 'acc_1' } } })
  t.match(await send(two), { value: { session: { accountId: 'acc_2' } } })
  const [head, body] = one.split('.')
  const [, otherBody, otherSignature] = two.split('.')
  t.match(await send(`${head}.${body}.${otherSignature}`), denied)
  t.match(await send(`${head}.${otherBody}.${one.split('.')[2]}`), denied)
  t.match(await send(one), { value: { session: { accountId: 'acc_1' } } })
})

t.test('denies the wrong type, issuer, audience, key id and missing or future dates', async t => {
  const { send, good, key, clock } = await setUp()
  const now = clock.now() / 1000
  const cases: [Record<string, unknown>, Record<string, unknown>?][] = [
    [good, { typ: 'JWT' }],
    [good, { typ: undefined }],
    [good, { kid: 'other' }],
    [good, { kid: 5 }],
    [{ ...good, iss: 'https://issuer.test/' }],
    [{ ...good, iss: [ISSUER] }],
    [{ ...good, aud: 'https://other.test' }],
    [{ ...good, aud: [] }],
    [{ ...good, aud: undefined }],
    [{ ...good, exp: undefined }],
    [{ ...good, exp: '9999999999' }],
    [{ ...good, exp: null }],
    [{ ...good, iat: undefined }],
    [{ ...good, iat: now + 6 }],
    [{ ...good, nbf: now + 6 }],
    [{ ...good, nbf: 'now' }],
    [{ ...good, jti: undefined }],
    [{ ...good, jti: '' }],
    [{ ...good, sub: 7 }],
    [{ ...good, scope: ['cards.read'] }],
    [{ ...good, gw_policies: 'p' }],
  ]
  for (const [payload, header] of cases) {
    t.match(await send(await sign(key, payload, header)), denied, JSON.stringify([payload, header]))
  }
  t.match(await send(await sign(key, { ...good, aud: ['https://x.test', AUDIENCE] })), { ok: true })
  t.match(await send(await sign(key, { ...good, iat: now + 5, nbf: now + 5 })), { ok: true })
  const endsSoon = await send(await sign(key, { ...good, exp: now + 0.5 }))
  t.match(endsSoon, { code: 'session_expired' }, 'exp is rounded down')
  const fractions = { iat: now - 0.25, nbf: now - 0.25, exp: now + 1.75 }
  t.match(await send(await sign(key, { ...good, ...fractions })), { ok: true }, 'RFC 7519 section 2')
  t.match(await send(await sign(key, { ...good, iat: now + 5.5 })), denied)
})

t.test('applies no tolerance to exp, and denies every expired token with session_expired', async t => {
  const { send, good, key, clock } = await setUp()
  const token = await sign(key, good)
  clock.advance(900_000)
  t.match(await send(token), { code: 'session_expired', status: 401 })
  const forged = await sign(await signingKey('EdDSA', key.jwk.kid), good)
  t.match(await send(forged), { code: 'session_expired', status: 401 }, 'no signature check for what is over')
  t.match(await send(await sign(key, { ...good, iss: 'https://other.test' })), denied)
})

t.test('denies a token over the size limit before decoding it', async t => {
  const { send, good, key } = await setUp({ maxTokenBytes: 1000 })
  t.match(await send(await sign(key, { ...good, pad: 'x'.repeat(1000) })), {
    ...denied,
    reason: 'token too long',
  })
  t.match(await send('x'.repeat(5_000_000)), denied)
})

t.test('reads any field in time linear in its length (CVE-2026-35041 and similar)', async t => {
  const { send } = await setUp({ maxTokenBytes: 16_384 })
  const hostile = [
    'A'.repeat(16_384),
    '.'.repeat(16_384),
    `${'A.'.repeat(8000)}!`,
    `${'A'.repeat(16_000)}.A.=`,
  ]
  const started = process.cpuUsage()
  for (let n = 0; n < 100; n++) for (const text of hostile) assert.equal((await send(text)).ok, false)
  const { user } = process.cpuUsage(started)
  // 400 fields of 16 KiB take some 50 ms; a backtracking expression needs seconds for one.
  t.ok(user < 5_000_000, `${user} microseconds`)
})

t.test('authenticates without a rule: accepts the same credentials and counts nothing', async t => {
  const limits = [{ name: 'perKey', points: 1, windowSeconds: 60, per: 'key' }] as const
  const { guard, good, key, clock } = await setUp({ limits })
  const authorization = `Bearer ${await sign(key, good)}`
  for (let n = 0; n < 3; n++) {
    t.match(await guard.authenticate({ authorization }), { ok: true, value: { sessionId: 'ses_1' } })
  }
  t.match(await guard.authenticate({ authorization: undefined }), denied)
  t.match(await guard.authenticate({ authorization: 'Bearer x' }), denied)
  t.match(await guard.check({ authorization }, rule), { ok: true })
  clock.advance(900_000)
  t.match(await guard.authenticate({ authorization }), { code: 'session_expired' })
})

t.test('denies arbitrary bytes and never throws', async () => {
  const { guard, good, key } = await setUp()
  const token = await sign(key, good)
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.stringMatching(/^[A-Za-z0-9_-]{0,80}\.[A-Za-z0-9_-]{0,80}\.[A-Za-z0-9_-]{0,80}$/),
        fc.tuple(fc.nat(token.length - 1), fc.string({ maxLength: 1 })).map(([at, char]) => {
          return token.slice(0, at) + char + token.slice(at + 1)
        }),
        fc.tuple(fc.json(), fc.json()).map(([a, b]) => `${base64url.encode(a)}.${base64url.encode(b)}.AAAA`),
      ),
      async text => {
        const verdict = await guard.check({ authorization: `Bearer ${text}` }, rule)
        return text.replace(/^ +/, '') === token
          ? verdict.ok
          : !verdict.ok && [400, 401].includes(verdict.status)
      },
    ),
    { numRuns: randomCases(500) },
  )
})

t.test('throws a fault and does not deny with 401 when keys are unavailable or malformed', async t => {
  const sources = [
    async () => Promise.reject(new Error('connect ECONNREFUSED')),
    async () => ({ kty: 'OKP', crv: 'Ed25519', x: '!!', kid: 'kid-EdDSA' }),
  ]
  for (const keys of sources) {
    const { send, good, key } = await setUp({ keys })
    await t.rejects(async () => send(await sign(key, good)), { name: 'Fault', code: 'ERR_KEYS_UNAVAILABLE' })
  }
})

t.test('verifies again after cacheSeconds, so tokens of a removed key are denied', async t => {
  const keys: JWK[] = []
  const { send, good, key, clock } = await setUp({ keys: localKeys(() => ({ keys })), cacheSeconds: 60 })
  keys.push(key.jwk)
  const token = await sign(key, good)
  t.match(await send(token), { ok: true })
  keys.length = 0
  clock.advance(59_999)
  t.match(await send(token), { ok: true })
  clock.advance(1)
  t.match(await send(token), denied)
})

t.test('awaits a key source that returns a thenable, and treats its failure as a fault', async t => {
  const key = await signingKey('ES256')
  const thenable = (settle: 'good' | 'bad'): KeySource =>
    (() => ({
      // oxlint-disable-next-line unicorn/no-thenable -- What a lazy query or a library's promise looks like.
      then: (resolve: (jwk: JWK) => void, reject: (error: Error) => void) =>
        settle === 'good' ? resolve(key.jwk) : reject(new Error('down')),
    })) as never
  const open = await setUp({ keys: thenable('good') })
  t.match(await open.send(await sign(key, open.good)), { ok: true })
  const down = await setUp({ keys: thenable('bad') })
  await t.rejects(async () => down.send(await sign(key, down.good)), {
    name: 'Fault',
    code: 'ERR_KEYS_UNAVAILABLE',
  })
})
