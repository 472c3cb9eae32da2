import assert from 'node:assert/strict'
import { isStorableText, nearestName, shownName, unknownName } from '@gatewright/kernel/internal'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../harness/random-cases.ts'
import { holds } from '../harness/holds.ts'

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

t.test(
  'shows names of 32 characters, and of a longer one the beginning, with no half of a surrogate pair',
  async t => {
    t.equal(shownName('x'.repeat(32)), 'x'.repeat(32))
    t.equal(shownName('x'.repeat(33)), `${'x'.repeat(16)}…`)
    t.equal(shownName(`${'x'.repeat(15)}${'😀'.repeat(9)}`), `${'x'.repeat(15)}…`)
    t.equal(shownName('a\0\ud800'), 'a\ufffd\ufffd')
    t.ok(isStorableText(shownName('\0'.repeat(40))))
    t.equal(unknownName('member', `scopes${'x'.repeat(1_000_000)}`, KNOWN).length < 100, true)
  },
)

t.test('shows no part of the secret of a key that was pasted as a name', async t => {
  const secret = 'S3cr3t'.repeat(6)
  for (const start of ['gw_live_user_', 'gw_sandbox_partner_'])
    t.notMatch(shownName(`${start}0123456789abcdef_${secret}`), /S/)
})

/** How many edits lead from one text to the other: the whole table, without any bound. */
function countEdits(from: string, to: string): number {
  const edits = Array.from({ length: from.length + 1 }, (_, row) =>
    Array.from({ length: to.length + 1 }, (_, column) => row + column),
  )
  const at = (row: number, column: number): number => edits[row]?.[column] ?? Infinity
  for (let row = 1; row <= from.length; row++)
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      ;(edits[row] as number[])[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + same,
        row > 1 && column > 1 && isSwap ? at(row - 2, column - 2) + 1 : Infinity,
      )
    }
  return at(from.length, to.length)
}

t.test('suggests the name with the fewest edits, whatever is ruled out without counting them', async t => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), maxLength: 12 })
  await holds(
    t,
    fc.property(text, fc.array(text, { maxLength: 5 }), (from, known) => {
      let best: string | undefined
      let fewest = Infinity
      for (const to of known) {
        const edits = countEdits(from, to)
        const isRelated =
          (to.length > 3 && from.startsWith(to.slice(0, -1))) || (from.length > 2 && to.startsWith(from))
        if (edits < fewest && (isRelated || edits <= Math.min(3, Math.ceil(to.length / 3)))) {
          best = to
          fewest = edits
        }
      }
      assert.equal(nearestName(known)(from), best)
    }),
    { numRuns: randomCases(5000) },
  )
})

t.test('compares names of any length, also those that grow in lower case', async t => {
  t.equal(nearestName(['a'.repeat(66), 'scopes'])('İ'.repeat(64)), undefined)
  t.equal(nearestName(['x'.repeat(67)])('x'.repeat(64)), 'x'.repeat(67))
  t.equal(nearestName(['x'.repeat(66)])(`y${'x'.repeat(63)}`), 'x'.repeat(66))
})
