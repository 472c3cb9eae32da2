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

t.test('refuses peppers that are no list, an id that is no text, and a secret of 31 bytes', async t => {
  const secret = 'x'.repeat(32)
  for (const [message, peppers] of [
    [/must be a list of at least one/, []],
    [/must be a list of at least one/, { 0: { id: 'p', secret }, length: 1 }],
    [/an id must be 1 to 32/, [{ id: 7, secret }]],
    [/the secret of "p" must have at least 32 bytes/, [{ id: 'p', secret: 'x'.repeat(31) }]],
    [/the secret of "p" must have at least 32 bytes/, [{ id: 'p', secret: Array(32).fill(1) }]],
    [
      /the id "p" is given twice/,
      [
        { id: 'p', secret },
        { id: 'p', secret },
      ],
    ],
    [/unknown option|no option/, [{ id: 'p', secret, scheme: 1 }]],
  ] as const) {
    t.throws(() => setUp({ peppers: peppers as never }), { name: 'TypeError', message })
  }
})
