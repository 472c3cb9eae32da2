import t from 'tap'
import { compareVerdicts } from './compare-verdicts.ts'

t.test(
  'accepts only tokens that jose and oauth4webapi accept, and is stricter only by listed rules',
  async t => {
    const tally = await compareVerdicts(t, 300)
    // One in seven, so that fewer than ten of 300 do not happen by chance.
    t.ok((tally.get('accepted') ?? 0) > 10, 'some tokens are accepted')
    t.ok(tally.size > 12, 'tokens are denied for many reasons')
  },
)
