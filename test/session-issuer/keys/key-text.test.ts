import fc from 'fast-check'
import t from 'tap'
import { crc32 } from 'node:zlib'
import { newKey, setUp } from '../fixtures.ts'

/** The checksum of a key text without one. */
function checksumOf(body: string): string {
  let rest = crc32(body)
  let sum = ''
  for (let n = 0; n < 6; n++, rest = Math.floor(rest / 62)) sum = BASE62[rest % 62] + sum
  return sum
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

t.test('the checksum is the CRC-32 of all before it, in 6 base62 digits', async t => {
  const { issuer } = setUp()
  for (let n = 0; n < 10; n++) {
    const { text } = await newKey(issuer, [], { accountId: `a${n}` })
    const value = Array.from(text.slice(-6)).reduce((sum, digit) => sum * 62 + BASE62.indexOf(digit), 0)
    t.equal(value, crc32(text.slice(0, -6)))
  }
})

t.test('denies a text with a correct checksum and a wrong character', async t => {
  const { issuer, options } = setUp()
  let calls = 0
  const find = options.keys.find.bind(options.keys)
  Object.assign(options.keys, { find: (id: string) => (calls++, find(id)) })
  const { text } = await newKey(issuer, [])
  for (const wrong of ['-', '_', '/', ' ', '\n', '"']) {
    for (const at of [16, 31, 33, 62]) {
      const body = text.slice(0, at) + wrong + text.slice(at + 1, -6)
      t.equal((await issuer.authenticateKey(body + checksumOf(body), 'user')).ok, false)
    }
  }
  t.equal(calls, 0)
})

t.test('random texts of the right length never reach the store', async t => {
  const { issuer, options } = setUp()
  const find = async (): Promise<never> => t.fail('the store was asked') as never
  Object.assign(options.keys, { find })
  const head = 'gw_sandbox_user_'
  await fc.assert(
    fc.asyncProperty(
      fc.string({ minLength: 53, maxLength: 53, unit: 'binary' }),
      fc.boolean(),
      async (tail, headed) => {
        const verdict = await issuer.authenticateKey((headed ? head : '') + tail, 'user')
        return !verdict.ok
      },
    ),
  )
  t.pass('denied')
})

t.test('reads a text of which the id or the secret is all zeros', async t => {
  const { issuer } = setUp()
  for (const [id, secret] of [
    ['0'.repeat(16), 'x'.repeat(30)],
    ['x'.repeat(16), '0'.repeat(30)],
  ]) {
    const body = `gw_sandbox_user_${id}_${secret}`
    t.match(await issuer.authenticateKey(body + checksumOf(body), 'user'), { reason: 'no such key' })
  }
})
