import assert from 'node:assert/strict'
import { missingScopes, scopeCatalogue } from '@gatewright/kernel'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../harness/holds.ts'

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/)
const scope = fc.array(word, { minLength: 2, maxLength: 4 }).map(words => words.join('.'))
const scopes = fc.uniqueArray(scope, { minLength: 1, maxLength: 8 })
const names = fc.array(fc.constantFrom<string[]>('a.read', 'a.write', 'b.read', 'b.write', 'c.read'), {
  maxLength: 8,
})

t.test('contains exactly the given names, in their order', async t => {
  await holds(
    t,
    fc.property(scopes, fc.string(), (given, other) => {
      const catalogue = scopeCatalogue(given)
      assert.deepEqual(catalogue.names, given)
      for (const name of given) assert.ok(catalogue.has(name))
      assert.equal(catalogue.has(other), given.includes(other))
    }),
    { numRuns: 50 },
  )
})

t.test('does not contain names that every object has', async t => {
  const catalogue = scopeCatalogue(['cards.read'])
  for (const name of ['__proto__', 'constructor', 'toString', 'length', '']) t.notOk(catalogue.has(name))
})

t.test('refuses a list with a repeated name', async t => {
  await holds(
    t,
    fc.property(scopes, given => {
      assert.throws(() => scopeCatalogue([...given, given[0] as string]), TypeError)
    }),
    { numRuns: 20 },
  )
})

t.test('refuses an empty list and malformed names', async t => {
  t.throws(() => scopeCatalogue([]), TypeError)
  const malformed = [
    '',
    'cards',
    'cards.',
    '.read',
    'cards..read',
    'Cards.read',
    'cards.read ',
    'cards read',
    'cards.réad',
    '1.read',
    'cards.read\n',
    '*.read',
  ]
  for (const name of malformed) t.throws(() => scopeCatalogue([name]), TypeError, JSON.stringify(name))
})

t.test('does not change when the given array changes', async t => {
  const given = ['cards.read']
  const catalogue = scopeCatalogue(given)
  given.push('cards.write')
  t.notOk(catalogue.has('cards.write'))
  t.throws(() => (catalogue.names as string[]).push('cards.write'), TypeError)
})

t.test('missing scopes are those requested and not granted, in the order of the request', async t => {
  t.same(missingScopes(['b.read', 'a.read', 'c.read'], ['a.read']), ['b.read', 'c.read'])
  await holds(
    t,
    fc.property(names, names, (requested, granted) => {
      const missing = missingScopes(requested, granted)
      assert.ok(missing.every(name => requested.includes(name) && !granted.includes(name)))
      assert.deepEqual(missingScopes(requested, [...granted, ...missing]), [])
    }),
  )
})

t.test('granting more scopes never makes more of them missing', async t => {
  await holds(
    t,
    fc.property(names, names, names, (requested, granted, more) => {
      const before = missingScopes(requested, granted)
      assert.ok(missingScopes(requested, [...granted, ...more]).every(name => before.includes(name)))
    }),
  )
})
