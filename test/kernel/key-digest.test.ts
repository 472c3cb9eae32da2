import assert from 'node:assert/strict'
import { keyDigest } from '@gatewright/kernel'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../harness/random-cases.ts'
import { holds } from '../harness/holds.ts'

t.test('returns 43 characters of base64url for any text', async t => {
  await holds(
    t,
    fc.property(fc.string({ unit: 'binary' }), text => {
      assert.match(keyDigest(text), /^[A-Za-z0-9_-]{43}$/)
    }),
  )
})

t.test('returns the same digest for the same text', async t => {
  t.equal(keyDigest('acc:nonce'), keyDigest(['acc', 'nonce'].join(':')))
  // Recorded: rows that live in a store across an upgrade must still be found.
  t.equal(keyDigest('nonce'), 'eDd7UldXtJRCf4kBT5fXmSjzk40U61HiD7XeyYNOswQ')
  t.equal(keyDigest('\ud800'), '5_HOOKD1fkxeGJ0NGxaEV7kX_8eFZ3Qnr2qw5vC7r48')
})

t.test('returns different digests for texts that look alike or encode alike', async t => {
  const texts = [
    '',
    ' ',
    '\u0000',
    '\u0000\u0000',
    'a',
    'a ',
    ' a',
    'A',
    'a\u0000',
    '\ud800',
    '\udbff',
    '\udc00',
    '\udfff',
    '\ufffd',
    '\ud800\udc00',
    '\udc00\ud800',
    '\ufeff',
    'é',
    'e\u0301',
    'ß',
    'ss',
    'K',
    '\u212a',
    '1',
    '١',
    'x'.repeat(65_536),
    `${'x'.repeat(65_535)}y`,
  ]
  t.equal(new Set(texts.map(keyDigest)).size, texts.length)
})

t.test('returns different digests for any two different texts, also with lone surrogates', async t => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code))
  const units = fc.array(unit, { maxLength: 6 }).map(parts => parts.join(''))
  await holds(
    t,
    fc.property(units, units, (a, b) => {
      assert.equal(keyDigest(a) === keyDigest(b), a === b)
    }),
    { numRuns: randomCases(300) },
  )
})
