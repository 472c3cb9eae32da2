import { manualClock } from '@gatewright/kernel/testing'
import fc from 'fast-check'
import t from 'tap'
import { openTestHost } from '../../../harness/host.ts'
import { playTree, tree } from './card-trees.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock)

t.test('no caller pays more in a day with the cards that it may reveal than its lowest cap', async t => {
  const seen = { revealed: 0, denied: 0, spentCents: 0 }
  await fc.assert(
    fc.asyncProperty(tree, async each => {
      const { capCents, ...outcome } = await playTree(host, clock, each)
      if (outcome.spentCents > capCents)
        throw new Error(`${outcome.spentCents} cents are spent under a cap of ${capCents}`)
      for (const name of ['revealed', 'denied', 'spentCents'] as const) seen[name] += outcome[name]
    }),
    { numRuns: 3, seed: 36 },
  )
  for (const [what, sum] of Object.entries(seen)) t.ok(sum > 0, `${what} ${sum}`)
  t.same(host.failures, [])
})
