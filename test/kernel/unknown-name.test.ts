import { shownName, unknownName } from '@gatewright/kernel/internal'
import t from 'tap'

const KNOWN = ['scopes', 'policy', 'ttlSeconds']

t.test(
  'suggests the nearest known name for a name that is misspelt, cut short, or in the plural',
  async t => {
    for (const [name, near] of [
      ['scope', 'scopes'],
      ['SCOPES', 'scopes'],
      ['scpoes', 'scopes'],
      ['policies', 'policy'],
      ['policyObject', 'policy'],
      ['ttl', 'ttlSeconds'],
    ] as const) {
      t.equal(unknownName('member', name, KNOWN), `is not a known member; did you mean ${near}?`, name)
    }
  },
)

t.test('lists the known names where none is near', async t => {
  for (const name of ['label', '', '__proto__', 'constructor'])
    t.equal(unknownName('member', name, KNOWN), 'is not a known member; known: scopes, policy, ttlSeconds')
  t.equal(unknownName('query parameter', 'x', []), 'is not a known query parameter; known: none')
})

t.test('shows at most 64 characters of a name, and no half of a surrogate pair', async t => {
  t.equal(shownName('x'.repeat(64)), 'x'.repeat(64))
  t.equal(shownName('x'.repeat(65)), 'x'.repeat(64))
  t.equal(shownName(`${'x'.repeat(62)}😀😀`), `${'x'.repeat(62)}😀`)
  t.equal(shownName(`${'x'.repeat(63)}😀`), 'x'.repeat(63))
  t.equal(unknownName('member', `scopes${'x'.repeat(1_000_000)}`, KNOWN).length < 100, true)
})
