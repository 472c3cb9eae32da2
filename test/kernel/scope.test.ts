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

t.test('knows exactly the names it was given, in their order', async t => {
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

t.test('does not take names that every object has for scopes', async t => {
  const catalogue = scopeCatalogue(['cards.read'])
  for (const name of ['__proto__', 'constructor', 'toString', 'length', '']) t.notOk(catalogue.has(name))
})

t.test('refuses a list that repeats a name', async t => {
  await holds(
    t,
    fc.property(scopes, given => {
      assert.throws(() => scopeCatalogue([...given, given[0] as string]), TypeError)
    }),
    { numRuns: 20 },
  )
})

t.test('refuses an empty list and names that are no scopes', async t => {
  t.throws(() => scopeCatalogue([]), TypeError)
  const misshapen = [
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
  for (const name of misshapen) t.throws(() => scopeCatalogue([name]), TypeError, JSON.stringify(name))
})

t.test('cannot be changed after it was declared, also through the given array', async t => {
  const given = ['cards.read']
  const catalogue = scopeCatalogue(given)
  given.push('cards.write')
  t.notOk(catalogue.has('cards.write'))
  t.throws(() => (catalogue.names as string[]).push('cards.write'), TypeError)
})

t.test('missing scopes are those wanted and not held, in the order asked', async t => {
  t.same(missingScopes(['b.read', 'a.read', 'c.read'], ['a.read']), ['b.read', 'c.read'])
  await holds(
    t,
    fc.property(names, names, (wanted, held) => {
      const missing = missingScopes(wanted, held)
      assert.ok(missing.every(name => wanted.includes(name) && !held.includes(name)))
      assert.deepEqual(missingScopes(wanted, [...held, ...missing]), [])
    }),
  )
})

t.test('holding more never makes more missing', async t => {
  await holds(
    t,
    fc.property(names, names, names, (wanted, held, more) => {
      const before = missingScopes(wanted, held)
      assert.ok(missingScopes(wanted, [...held, ...more]).every(name => before.includes(name)))
    }),
  )
})
