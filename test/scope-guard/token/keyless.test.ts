// Tokens whose header names no key: verified by the only key of their algorithm (RFC 7515 section 4.1.4: `kid` is a hint).
import { createServer } from 'node:http'
import { localKeys, remoteKeys, type KeySource } from '@gatewright/scope-guard'
import type { JWK } from 'jose'
import t from 'tap'
import { bench, claims, session, sign, signingKey, type SigningKey } from '../issuer.ts'

const rule = { operation: 'cards.list', allOf: ['cards.read'] }
const [ed, otherEd, es, rsa] = await Promise.all([
  signingKey('EdDSA', 'ed'),
  signingKey('EdDSA', 'ed-2'),
  signingKey('ES256', 'es'),
  signingKey('RS256', 'rsa', false),
])
const without = ({ jwk }: SigningKey, changes: object): JWK => ({ ...jwk, ...changes })

async function reasonOf(keys: KeySource, by: SigningKey, header: object = {}): Promise<string> {
  const { guard, clock } = await bench({ keys })
  const token = await sign(by, claims(session(clock.now())), {
    kid: undefined,
    alg: by === rsa ? 'RS256' : by.jwk.alg,
    ...header,
  })
  const verdict = await guard.check({ authorization: `Bearer ${token}` }, rule)
  return verdict.ok ? 'accepted' : (verdict.reason ?? verdict.code)
}

/** The sets, the key that signs, and the outcome for a token without `kid`. */
const CASES: readonly [title: string, set: readonly JWK[], by: SigningKey, outcome: string][] = [
  ['one key', [ed.jwk], ed, 'accepted'],
  ['one key of the algorithm among others', [es.jwk, ed.jwk, rsa.jwk], ed, 'accepted'],
  ['an RSA key without alg is of the default algorithm', [rsa.jwk, ed.jwk], rsa, 'accepted'],
  ['a key without kid', [without(ed, { kid: undefined })], ed, 'accepted'],
  ['two keys of the algorithm', [ed.jwk, otherEd.jwk], ed, 'no kid'],
  ['no key of the algorithm', [es.jwk], ed, 'no kid'],
  ['an empty set', [], ed, 'no kid'],
  ['another key of the algorithm', [otherEd.jwk], ed, 'invalid signature'],
  ['a second key that is for encryption', [ed.jwk, without(otherEd, { use: 'enc' })], ed, 'accepted'],
  ['a second key that may not verify', [ed.jwk, without(otherEd, { key_ops: ['sign'] })], ed, 'accepted'],
]

t.test('a token without kid is verified by the only key of its algorithm', async t => {
  for (const [title, keys, by, outcome] of CASES) {
    t.equal(await reasonOf(localKeys({ keys }), by), outcome, title)
    t.equal(
      await reasonOf(
        localKeys(() => ({ keys })),
        by,
      ),
      outcome,
      `${title}, from a function`,
    )
  }
})

t.test('the same holds for the key set of a URL', async t => {
  let keys: readonly JWK[] = []
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys })))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  for (const [title, set, by, outcome] of CASES) {
    keys = set
    t.equal(await reasonOf(remoteKeys(new URL(`http://127.0.0.1:${port}`)), by), outcome, title)
  }
})

t.test('a kid that is there decides, also where the set has one key', async t => {
  const keys = localKeys({ keys: [ed.jwk] })
  t.equal(await reasonOf(keys, ed, { kid: 'other' }), 'unknown key')
  for (const kid of [null, '', 5]) t.equal(await reasonOf(keys, ed, { kid }), 'no kid', String(kid))
})

t.test('a source of your own without the function all denies tokens without kid', async t => {
  t.equal(await reasonOf(kid => (kid === 'ed' ? ed.jwk : undefined), ed), 'no kid')
})

t.test('the log says that the keys are not exactly one, and names the algorithm', async t => {
  const { guard, clock } = await bench({ keys: localKeys({ keys: [ed.jwk, otherEd.jwk] }) })
  const token = await sign(ed, claims(session(clock.now())), { kid: undefined })
  t.match(await guard.check({ authorization: `Bearer ${token}` }, rule), {
    status: 401,
    explanation: /names no key, and the keys of https:\/\/issuer\.test are not exactly one for EdDSA/,
  })
})

t.test('a weak key that is the only one of its algorithm is a fault, as with a kid', async t => {
  const weak = { kty: 'RSA', alg: 'RS256', n: 'AQAB', e: 'AQAB' }
  await t.rejects(
    reasonOf(
      localKeys(() => ({ keys: [weak] })),
      rsa,
      { alg: 'RS256' },
    ),
    {
      code: 'ERR_KEYS_UNAVAILABLE',
    },
  )
})
