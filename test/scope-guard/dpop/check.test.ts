// Which requests use up a DPoP proof: none that is denied for another reason.
import { createHash } from 'node:crypto'
import type { GuardOptions } from '@gatewright/scope-guard'
import { calculateJwkThumbprint, SignJWT, type JWK } from 'jose'
import t from 'tap'
import { bench, claims, session, sign, signingKey } from '../issuer.ts'

const [origin, path, method] = ['https://api.test', '/cards', 'POST']
const rule = { operation: 'cards.create', allOf: ['cards.write'] }
const key = await signingKey('ES256', 'client')
const { kty, crv, x, y } = key.jwk
const jwk = { kty, crv, x, y } as JWK
const thumbprint = await calculateJwkThumbprint(jwk)
let proofs = 0

/** A guard that counts what is claimed, and a bound token with a fresh proof for each request. */
async function counted(options: Partial<GuardOptions> = {}) {
  const claimed = new Set<string>()
  const nonces = {
    async claim(name: string): Promise<boolean> {
      if (claimed.has(name)) return false
      claimed.add(name)
      return true
    },
  }
  const { guard, clock, key: issuerKey } = await bench({ dpop: { nonces, origin }, ...options })
  const token = await sign(issuerKey, { ...claims(session(clock.now())), cnf: { jkt: thumbprint } })
  const proof = (): Promise<string> =>
    new SignJWT({
      jti: `proof-${++proofs}`,
      htm: method,
      htu: origin + path,
      iat: clock.now() / 1000,
      ath: createHash('sha256').update(token).digest('base64url'),
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .sign(key.privateKey)
  const facts = async (dpop?: string) => ({
    authorization: `DPoP ${token}`,
    dpop: dpop ?? (await proof()),
    method,
    url: path,
  })
  return { guard, clock, claimed, proof, facts }
}

t.test('a caller above its rate limit stores no proof: at the limit, and one above', async t => {
  const limits = [{ name: 'perKey', points: 5, windowSeconds: 60, per: 'key' as const }]
  const { guard, claimed, facts } = await counted({ limits })
  const codes: (string | true)[] = []
  for (let n = 0; n < 50; n += 1) {
    const verdict = await guard.check(await facts(), rule)
    codes.push(verdict.ok || verdict.code)
  }
  t.same(codes, [...Array(5).fill(true), ...Array(45).fill('rate_limited')])
  t.equal(claimed.size, 5)
})

t.test('a revoked session stores no proof', async t => {
  let live = true
  const { guard, claimed, facts } = await counted({
    revocation: { mode: 'strict', isLive: async () => live },
  })
  t.match(await guard.check(await facts(), rule), { ok: true })
  live = false
  for (let n = 0; n < 20; n += 1) {
    t.match(await guard.check(await facts(), rule), { code: 'unauthorized', reason: 'revoked' })
    t.match(await guard.authenticate(await facts()), { code: 'unauthorized', reason: 'revoked' })
  }
  t.equal(claimed.size, 1)
})

t.test('an expired session and one without the scope store no proof', async t => {
  const { guard, clock, claimed, facts } = await counted()
  const other = { operation: 'keys.create', allOf: ['keys.write'] }
  t.match(await guard.check(await facts(), other), { code: 'insufficient_scope' })
  clock.advance(900_000)
  t.match(await guard.check(await facts(), rule), { code: 'session_expired' })
  t.equal(claimed.size, 0)
})

t.test('a proof that passed one check passes no other, whatever is checked', async t => {
  const { guard, claimed, proof, facts } = await counted({
    limits: [{ name: 'perKey', points: 1000, windowSeconds: 60, per: 'key' }],
  })
  const replayed = { ok: false, code: 'invalid_dpop_proof', reason: 'the DPoP proof was used before' }
  const checks = [
    async (dpop: string) => guard.check(await facts(dpop), rule),
    async (dpop: string) => guard.authenticate(await facts(dpop)),
  ]
  for (const first of checks)
    for (const second of checks) {
      const dpop = await proof()
      t.match(await first(dpop), { ok: true })
      t.match(await second(dpop), replayed)
    }
  const dpop = await proof()
  const verdicts = await Promise.all(
    Array.from({ length: 50 }, (_, n) => (checks[n % 2] as (typeof checks)[0])(dpop)),
  )
  t.equal(verdicts.filter(({ ok }) => ok).length, 1)
  t.equal(claimed.size, 5)
})

t.test('a proof that a denied request carried can be sent again, and then once', async t => {
  let live = false
  const { guard, proof, facts } = await counted({ revocation: { mode: 'strict', isLive: async () => live } })
  const dpop = await proof()
  t.match(await guard.check(await facts(dpop), rule), { reason: 'revoked' })
  live = true
  t.match(await guard.check(await facts(dpop), rule), { ok: true })
  t.match(await guard.check(await facts(dpop), rule), { reason: 'the DPoP proof was used before' })
})

t.test('a proof that becomes too old while the request is checked is not claimed', async t => {
  const maxAgeMs = 60_000
  for (const [ageMs, expected] of [
    [maxAgeMs - 1, { ok: true }],
    [maxAgeMs, { ok: false, code: 'invalid_dpop_proof', reason: 'the DPoP proof is too old' }],
  ] as const) {
    let wait = (): void => {}
    const isLive = async (): Promise<boolean> => {
      wait()
      return true
    }
    const { guard, clock, claimed, facts } = await counted({ revocation: { mode: 'strict', isLive } })
    const sent = await facts()
    wait = () => clock.advance(ageMs)
    t.match(await guard.check(sent, rule), expected)
    t.equal(claimed.size, expected.ok ? 1 : 0)
  }
})

t.test('a proof that is too old is denied before the revocation is queried, at exactly its end', async t => {
  let queries = 0
  const isLive = async (): Promise<boolean> => {
    queries++
    return true
  }
  const { guard, clock, facts } = await counted({ revocation: { mode: 'strict', isLive } })
  const [first, second] = [await facts(), await facts()]
  clock.advance(59_999)
  t.match(await guard.check(first, rule), { ok: true })
  t.equal(queries, 1)
  clock.advance(1)
  t.match(await guard.check(second, rule), { ok: false, reason: 'the DPoP proof is too old' })
  t.equal(queries, 1)
})
