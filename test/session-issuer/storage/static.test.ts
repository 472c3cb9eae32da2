import { createIssuer } from '@gatewright/session-issuer'
import { staticSigningKeyStorage } from '@gatewright/session-issuer/static'
import { decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import t from 'tap'
import { must, newKey, setUp } from '../fixtures.ts'

const draw = async (algorithm: string) =>
  exportJWK((await generateKeyPair(algorithm, { extractable: true })).privateKey)

t.test('the first configured key signs, all are published, and no call rotates them', async t => {
  const [ed, es] = [await draw('EdDSA'), await draw('ES256')]
  const { options } = setUp()
  const issuer = createIssuer({ ...options, signingKeys: staticSigningKeyStorage([es, ed]) })
  const { token } = must(await issuer.issueSession((await newKey(issuer, [])).key))
  t.equal(decodeProtectedHeader(token).alg, 'ES256')
  const { keys } = await issuer.jwks()
  t.same(
    keys.map(({ alg }) => alg),
    ['ES256', 'EdDSA'],
  )
  t.equal(await issuer.rotateSigningKey(), false)
  t.equal((await issuer.maintain()).rotatedSigningKey, false)
  await t.rejects(issuer.dropSigningKey(keys[0]!.kid!), { name: 'TypeError', message: /by configuration/ })
})

t.test('refuses anything but a list of distinct private keys, without showing it', async t => {
  const key = await draw('EdDSA')
  const { d: _d, ...open } = key
  for (const bad of [
    [],
    undefined,
    [open],
    [key, key],
    [{ ...key, crv: 'X25519' }],
    [{ kty: 'oct', k: 'c2VjcmV0' }],
  ]) {
    t.throws(() => staticSigningKeyStorage(bad as never), { name: 'TypeError', message: /^signing key/ })
  }
})

t.test('holds one revision of keys, of which only the first is active from the start', async t => {
  const [one, other, third] = [await draw('EdDSA'), await draw('ES256'), await draw('EdDSA')]
  t.match(await staticSigningKeyStorage([one]).load(), { revision: 1, keys: [{ activatesAt: 0 }] })
  const { fixed, load } = staticSigningKeyStorage([one, other, third])
  t.equal(fixed, true)
  const never = Number.MAX_SAFE_INTEGER
  const { revision, keys } = await load()
  t.equal(revision, 1)
  t.same(
    keys.map(({ activatesAt }) => activatesAt),
    [0, never, never],
  )
  for (const { kid } of keys) t.match(kid, /^[\w-]{43}$/)
  t.throws(() => staticSigningKeyStorage({ length: 1 } as never), { message: /must be a list/ })
})
