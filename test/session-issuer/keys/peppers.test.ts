import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import t, { type Test } from 'tap'
import { newKey, setUp } from '../fixtures.ts'

/** Records the lengths of every pair that `timingSafeEqual` compares, until the test ends. */
function watchComparisons(t: Test): (readonly [number, number])[] {
  const compared: (readonly [number, number])[] = []
  const real = crypto.timingSafeEqual
  const set = (timingSafeEqual: typeof real): void => {
    crypto.timingSafeEqual = timingSafeEqual
    syncBuiltinESMExports()
  }
  set((one, other) => {
    compared.push([one.byteLength, other.byteLength])
    return real(one, other)
  })
  t.teardown(() => set(real))
  return compared
}

t.test('compares the whole digest of a presented key in constant time, right or wrong', async t => {
  const { issuer, options } = setUp()
  const { key, text } = await newKey(issuer, [])
  const { digest = '', pepperId = '' } = (await options.keys.find(key.id)) ?? {}
  const compared = watchComparisons(t)
  t.equal((await issuer.authenticateKey(text, 'user')).ok, true)
  // Wrong in the first character, then in the last: A and Q also differ in the bits that the last one carries.
  const wrong = ['hmac-sha256:'.length, digest.length - 1].map(at => {
    const other = digest[at] === 'A' ? 'Q' : 'A'
    return digest.slice(0, at) + other + digest.slice(at + 1)
  })
  for (const other of wrong) {
    await options.keys.touch([{ id: key.id, at: 1, rehash: { digest: other, pepperId } }])
    t.match(await issuer.authenticateKey(text, 'user'), { code: 'unauthorized', reason: /wrong secret/ })
  }
  t.same(compared, [
    [32, 32],
    [32, 32],
    [32, 32],
  ])
})
