// Nonces that the API issues for proofs (RFC 9449 section 9), and tokens that must be bound.
import { createHash } from 'node:crypto'
import { createGuard, type GuardOptions } from '@gatewright/scope-guard'
import { manualClock } from '@gatewright/kernel/testing'
import type { DpopOptions } from '#packages/scope-guard/dist/dpop/options.js'
import { calculateJwkThumbprint, SignJWT, type JWK } from 'jose'
import t from 'tap'
import { bench, claims, field, session, sign, signingKey } from '../issuer.ts'

const [origin, path, method] = ['https://api.test', '/cards', 'POST']
const rule = { operation: 'cards.create', allOf: ['cards.write'] }
const nonceSecret = 'a secret of exactly 32 characters'.slice(0, 32)
const LIFE_MS = 300_000
const key = await signingKey('ES256', 'client')
const { kty, crv, x, y } = key.jwk
const jwk = { kty, crv, x, y } as JWK
const thumbprint = await calculateJwkThumbprint(jwk)
let proofs = 0

/** A guard that requires nonces, with a bound token and a fresh proof for each request. */
async function setUp(dpop: Partial<DpopOptions> = { nonceSecret }, options: Partial<GuardOptions> = {}) {
  const claimed = new Set<string>()
  const nonces = {
    async claim(name: string): Promise<boolean> {
      const isFirst = !claimed.has(name)
      claimed.add(name)
      return isFirst
    },
  }
  const made = await bench({ dpop: { nonces, origin, ...dpop }, ...options })
  const { guard, clock, key: issuerKey } = made
  const token = await sign(issuerKey, {
    ...claims(session(clock.now(), { expiresAt: clock.now() + 1e9 })),
    cnf: { jkt: thumbprint },
  })
  const facts = async (nonce: unknown, by = key.privateKey) => ({
    authorization: `DPoP ${token}`,
    method,
    url: path,
    address: '192.0.2.1',
    dpop: await new SignJWT({
      jti: `proof-${++proofs}`,
      htm: method,
      htu: origin + path,
      iat: clock.now() / 1000,
      ath: createHash('sha256').update(token).digest('base64url'),
      ...(nonce === undefined ? {} : { nonce }),
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .sign(by),
  })
  const send = async (nonce: unknown) => guard.check(await facts(nonce), rule)
  const nonceOf = async (): Promise<string> => {
    const denied = await send(undefined)
    return (denied.ok ? undefined : field(denied.headers, 'DPoP-Nonce')) as string
  }
  return { ...made, facts, send, nonceOf, claimed }
}

t.test('a proof without a nonce gets one, which the repeated request is accepted with', async t => {
  const { send, nonceOf, guard, facts, claimed } = await setUp()
  const denied = await send(undefined)
  t.match(denied, {
    code: 'use_dpop_nonce',
    status: 401,
    reason: 'the DPoP proof has no nonce of this API',
    headers: [
      [
        'WWW-Authenticate',
        /^DPoP realm="api", error="use_dpop_nonce", .*algs="ES256 .*, scope="cards.write"$/,
      ],
      ['DPoP-Nonce', /^[\w-]{40,60}$/],
    ],
  })
  t.equal(claimed.size, 0, 'no proof is used up')
  const nonce = await nonceOf()
  const accepted = await send(nonce)
  t.match(accepted, { ok: true, value: { headers: [] } })
  t.match(await guard.authenticate(await facts(nonce)), { ok: true }, 'a nonce serves many proofs')
  t.match(await guard.authenticate(await facts(undefined)), { code: 'use_dpop_nonce' })
})

t.test(
  'a nonce is accepted until exactly 5 minutes after it was issued, and replaced from the half on',
  async t => {
    const { send, nonceOf, clock } = await setUp()
    const nonce = await nonceOf()
    const headersOf = async (): Promise<unknown> => {
      const verdict = await send(nonce)
      return verdict.ok ? verdict.value.headers : verdict.reason
    }
    clock.advance(LIFE_MS / 2 - 1)
    t.same(await headersOf(), [])
    clock.advance(1)
    t.match(await headersOf(), [['DPoP-Nonce', /^[\w-]+$/]])
    clock.advance(LIFE_MS / 2 - 1)
    const last = await send(nonce)
    t.ok(last.ok)
    const renewed = last.ok ? field(last.value.headers, 'DPoP-Nonce') : undefined
    clock.advance(1)
    t.equal(await headersOf(), 'the nonce of the DPoP proof is unknown or too old')
    t.match(await send(renewed), { ok: true })
  },
)

t.test('a nonce of another secret, of the future, or of any other form is denied', async t => {
  const { send, nonceOf, clock } = await setUp()
  const other = await setUp({ nonceSecret: 'another secret of 32 characters!' })
  const mine = await nonceOf()
  const [issued = '', signature = ''] = mine.split(/-(.*)/s)
  const older = `${(parseInt(issued, 36) - 1).toString(36)}-${signature}`
  const forged = [
    await other.nonceOf(),
    older,
    `${issued}-${'A'.repeat(43)}`,
    issued,
    '',
    'x'.repeat(3000),
    7,
    null,
    [mine],
  ]
  for (const nonce of [...forged, `${mine}A`, ` ${mine}`])
    t.match(
      await send(nonce),
      { code: 'use_dpop_nonce', reason: /unknown or too old/ },
      JSON.stringify(nonce).slice(0, 90),
    )
  clock.set(clock.now() + 5000)
  const ahead = await nonceOf()
  clock.set(clock.now() - 5000)
  t.match(await send(ahead), { ok: true }, 'a host may be 5 s ahead')
  clock.set(clock.now() - 1)
  t.match(await send(ahead), { code: 'use_dpop_nonce' })
})

t.test('a missing nonce is not charged to the address, and a wrong proof with a nonce is', async t => {
  const failedCredentials = { points: 2, windowSeconds: 60 }
  const { send, nonceOf, guard, facts } = await setUp({ nonceSecret }, { failedCredentials })
  for (let n = 0; n < 5; n += 1) t.match(await send(undefined), { code: 'use_dpop_nonce' })
  const nonce = await nonceOf()
  const { privateKey: thief } = await signingKey('ES256', 'thief')
  t.match(await guard.check(await facts(nonce, thief), rule), {
    code: 'invalid_dpop_proof',
    reason: 'invalid signature of the DPoP proof',
  })
  t.match(await send(nonce), { ok: true })
})

t.test('hosts with one secret accept the nonces of each other', async t => {
  const [one, two] = [await setUp(), await setUp()]
  t.match(await two.send(await one.nonceOf()), { ok: true })
})

t.test('a guard without the secret ignores nonces', async t => {
  const { send } = await setUp({})
  t.match(await send(undefined), { ok: true, value: { headers: [] } })
  t.match(await send('of another server'), { ok: true })
})

t.test('tokens that are not bound are denied where binding is required, also cached ones', async t => {
  const { guard, bearer, send } = await setUp({ required: true })
  const authorization = await bearer()
  for (const time of ['new', 'cached']) {
    t.match(
      await guard.check({ authorization }, rule),
      {
        code: 'unauthorized',
        reason: 'the token is not bound, and the guard requires it',
        headers: [['WWW-Authenticate', /^DPoP realm="api", error="invalid_token"/]],
      },
      time,
    )
    t.match(await guard.authenticate({ authorization }), { code: 'unauthorized' }, time)
  }
  t.match(await send(undefined), { ok: true })
  const optional = await setUp({ required: false })
  t.match(await optional.guard.check({ authorization: await optional.bearer() }, rule), { ok: true })
})

t.test('the challenge of a request without a token names the schemes that are accepted', async t => {
  const schemes = async (dpop: Partial<DpopOptions> | undefined) => {
    const { guard } = dpop ? await setUp(dpop) : await bench()
    const verdict = await guard.authenticate({ authorization: undefined })
    return verdict.ok ? [] : verdict.headers.map(([, value]) => value.split(',')[0])
  }
  t.same(await schemes(undefined), ['Bearer realm="api"'])
  t.same(await schemes({}), ['Bearer realm="api"', 'DPoP realm="api"'])
  t.same(await schemes({ required: true }), ['DPoP realm="api"'])
})

t.test('rejects a short secret, without printing it', async t => {
  const dpop = { nonces: { claim: async () => true }, origin }
  const guardWith = (secret: string) =>
    createGuard({
      issuer: 'https://i.test',
      audience: 'a',
      clock: manualClock(),
      dpop: { ...dpop, nonceSecret: secret },
    })
  t.ok(guardWith(nonceSecret))
  t.throws(
    () => guardWith(nonceSecret.slice(1)),
    /nonceSecret must have at least 32 random characters, got 31/,
  )
  try {
    guardWith('hunter2')
    t.fail('it must throw')
  } catch (error) {
    t.notMatch((error as Error).message, 'hunter2')
  }
})
