import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../../harness/random-cases.ts'
import { play, run, type SeenCounts } from './card-spending.ts'

t.test('all cards that a caller may reveal spend no more than its own policies allow by card', async t => {
  const seen: SeenCounts = { denied: 0, allowedOfOthers: 0, paid: 0, declined: 0 }
  await fc.assert(
    fc.asyncProperty(run, each => play(each, seen)),
    { numRuns: randomCases(40) },
  )
  // The rarer outcomes are counted by the slow test, which tries 1,500 cases.
  t.ok(seen.paid > 0, `paid ${seen.paid} times`)
})
