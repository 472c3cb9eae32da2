import assert from 'node:assert/strict'
import { scopeCatalogue } from '@gatewright/kernel'
import { missingScopes } from '@gatewright/kernel/internal'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../harness/random-cases.ts'
import { holds } from '../harness/holds.ts'

const scope = fc.stringMatching(/^[\x21\x23-\x5b\x5d-\x7e]{1,12}$/)
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
    { numRuns: randomCases(50) },
  )
})

t.test('does not contain names that every object has', async t => {
  const catalogue = scopeCatalogue(['cards.read'])
  for (const name of ['__proto__', 'constructor', 'toString', 'length', '']) t.notOk(catalogue.has(name))
})

t.test('rejects a list with a repeated name', async t => {
  await holds(
    t,
    fc.property(scopes, given => {
      assert.throws(() => scopeCatalogue([...given, given[0] as string]), TypeError)
    }),
    { numRuns: randomCases(20) },
  )
})

t.test('accepts the scopes that identity providers use', async t => {
  const scopes = ['read:cards', 'realm:admin', 'group:Admins', 'role:authenticated', 'Cards.Read', 'openid']
  const urls = ['https://api.example/cards.read', '*']
  t.same(scopeCatalogue([...scopes, ...urls]).names, [...scopes, ...urls])
})

t.test('rejects an empty list and names that are no scope-token of RFC 6749', async t => {
  t.throws(() => scopeCatalogue([]), TypeError)
  const malformed = ['', 'cards.read ', 'cards read', 'cards.réad', 'cards.read\n', 'a"b', 'a\\b', 'a\u007f']
  const notTexts = [undefined, 1, null, ['cards.read']] as unknown as string[]
  for (const name of [...malformed, ...notTexts]) {
    const expected = {
      name: 'TypeError',
      message: `a scope must be one or more printable ASCII characters without space, quote and backslash, got ${JSON.stringify(name)}`,
    }
    t.throws(() => scopeCatalogue([name]), expected)
  }
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
