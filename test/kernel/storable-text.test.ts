import assert from 'node:assert/strict'
import { isStorableText, storableText } from '@gatewright/kernel/internal'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../harness/random-cases.ts'
import { holds } from '../harness/holds.ts'

t.test('accepts what every store keeps unchanged, and rejects NUL and every lone surrogate', async t => {
  for (const text of [
    '',
    'a',
    '\u0001',
    '\u007f',
    '\u0085',
    'e\u0301',
    '\ufffd',
    '\ufeff',
    '\uffff',
    '\u{1f600}',
  ]) {
    t.ok(isStorableText(text), JSON.stringify(text))
  }
  for (const text of [
    '\0',
    'a\0b',
    '\ud800',
    '\udbff',
    '\udc00',
    'a\udfff',
    '\udc00\ud800',
    '\ud800\ud800\udc00',
  ]) {
    t.notOk(isStorableText(text), JSON.stringify(text))
  }
})

t.test('accepts only texts that UTF-8 keeps unchanged', async t => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code))
  await holds(
    t,
    fc.property(fc.string({ unit, maxLength: 6 }), text => {
      const same = Buffer.from(text, 'utf8').toString('utf8') === text
      assert.equal(isStorableText(text), same && !text.includes('\0'))
    }),
    { numRuns: randomCases(1000) },
  )
})

t.test('replaces what not every store keeps, cuts the rest, and never splits a surrogate pair', async t => {
  t.equal(storableText('a\0b\ud800c\udc00', 10), 'a\ufffdb\ufffdc\ufffd')
  t.equal(storableText('😀é', 3), '😀é')
  t.equal(storableText('abc', 2), 'ab')
  t.equal(storableText('a😀', 2), 'a')
  t.equal(storableText('a😀', 3), 'a😀')
  const unit = fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code))
  await holds(
    t,
    fc.property(fc.string({ unit, maxLength: 6 }), fc.integer({ min: 0, max: 6 }), (text, most) => {
      const kept = storableText(text, most)
      assert.ok(isStorableText(kept) && kept.length <= most)
      if (isStorableText(text) && text.length <= most) assert.equal(kept, text)
    }),
    { numRuns: randomCases(1000) },
  )
})
