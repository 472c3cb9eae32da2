import assert from 'node:assert/strict'
import { createSecretKey, randomBytes, webcrypto } from 'node:crypto'
import {
  accountCipher,
  type EncryptedText,
} from '#packages/reference-host/dist/modules/encryption/account-cipher.js'
import type { AccountKeys } from '#packages/reference-host/dist/modules/encryption/account-keys.js'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../../harness/random-cases.ts'

const bytes = randomBytes(32)
const key = createSecretKey(bytes)
// One key for all, so that what keeps accounts apart here is what a text is bound to.
const keys: AccountKeys = { find: async () => key, findOrCreate: async () => key }
const cipher = accountCipher(keys)
const text = fc.string({ unit: 'binary', maxLength: 300 })
const account = fc.string({ maxLength: 12 })

const encrypted = async (accountId: string, text: string): Promise<EncryptedText> => {
  const [result] = await cipher.encrypt(accountId, [text])
  if (!result || 'problem' in result) throw new Error('not encrypted')
  return result.value
}

t.test('opens what it encrypted for the same account', () =>
  fc.assert(
    fc.asyncProperty(account, fc.array(text, { minLength: 1, maxLength: 10 }), async (account, texts) => {
      const made = await cipher.encrypt(account, texts)
      const values = made.map(result => ('value' in result ? result.value : undefined))
      assert.deepEqual(
        await cipher.decrypt(account, values),
        texts.map(value => ({ value })),
      )
    }),
  ),
)

t.test('opens nothing of another account', () =>
  fc.assert(
    fc.asyncProperty(account, account, text, async (one, other, text) => {
      fc.pre(one !== other)
      const result = await cipher.decrypt(other, [await encrypted(one, text)])
      assert.deepEqual(result, [{ problem: 'undecryptable' }])
    }),
  ),
)

t.test('says undecryptable when any bit of the text or the IV was changed', () =>
  fc.assert(
    fc.asyncProperty(text, fc.constantFrom('iv', 'ct'), fc.nat(), async (text, member, bit) => {
      const value = await encrypted('acc', text)
      const bytes = Buffer.from(value[member], 'base64url')
      const at = bit % (bytes.length * 8)
      bytes.writeUInt8(bytes.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3)
      const changed = { ...value, [member]: bytes.toString('base64url') }
      assert.deepEqual(await cipher.decrypt('acc', [changed]), [{ problem: 'undecryptable' }])
    }),
    { numRuns: randomCases(500) },
  ),
)

t.test('returns a problem, and never throws, for any other JSON value', () => {
  const near = fc.record(
    { v: fc.constantFrom(1, 2, '1'), iv: fc.string({ maxLength: 20 }), ct: fc.string({ maxLength: 40 }) },
    { requiredKeys: [] },
  )
  return fc.assert(
    fc.asyncProperty(fc.oneof(fc.jsonValue(), near), async value => {
      const [result] = await cipher.decrypt('acc', [value])
      assert.ok(result && 'problem' in result && result.problem !== 'too_long')
    }),
    { numRuns: randomCases(500) },
  )
})

t.test('a bad value fails alone, and says why', async t => {
  const good = await encrypted('acc', 'good')
  const longest = await encrypted('acc', '\u{1f600}'.repeat(1024))
  t.same(await cipher.encrypt('acc', [7, null, undefined, '\u{1f600}'.repeat(1024) + 'x']), [
    { problem: 'malformed' },
    { problem: 'malformed' },
    { problem: 'malformed' },
    { problem: 'too_long' },
  ])
  const wrong = [
    {},
    'good',
    { ...good, v: 2 },
    { ...good, v: '1' },
    { ...good, iv: good.iv.slice(4) },

    { ...good, ct: '' },
    { ...good, ct: `${good.ct}*` },
    { ...good, iv: [good.iv] },
  ]
  const results = await cipher.decrypt('acc', [good, ...wrong, { ...good, ct: 'A'.repeat(5488) }, longest])
  t.same(results[0], { value: 'good' })
  for (const [index, value] of wrong.entries())
    t.same(results[index + 1], { problem: 'malformed' }, JSON.stringify(value))
  t.same(results.at(-2), { problem: 'too_long' })
  t.same(results.at(-1), { value: '\u{1f600}'.repeat(1024) })
})

t.test('is AES-256-GCM as documented: WebCrypto opens it, and it opens what WebCrypto made', async t => {
  const imported = await webcrypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const additionalData = Buffer.from('gw-data|acc_1|1')
  const { v, iv, ct } = await encrypted('acc_1', 'Zoé')
  t.equal(v, 1)
  const options = { name: 'AES-GCM', iv: Buffer.from(iv, 'base64url'), additionalData }
  const opened = await webcrypto.subtle.decrypt(options, imported, Buffer.from(ct, 'base64url'))
  t.equal(Buffer.from(opened).toString(), 'Zoé')
  const made = Buffer.from(await webcrypto.subtle.encrypt(options, imported, Buffer.from('Ann')))
  for (const encoding of ['base64', 'base64url'] as const) {
    const value = { v: 1, iv: options.iv.toString(encoding), ct: made.toString(encoding) }
    t.same(await cipher.decrypt('acc_1', [value]), [{ value: 'Ann' }], encoding)
  }
})
