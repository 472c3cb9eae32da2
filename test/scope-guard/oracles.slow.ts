import t from 'tap'
import { compareDecisions } from './policies/compare-decisions.ts'
import { compareVerdicts } from './token/compare-verdicts.ts'

t.test('decides 8,000 random chains of policies as the naive interpreter does', async t => {
  const { allowed, denied } = await compareDecisions(8000)
  t.ok(allowed > 3000 && denied > 3000)
  t.comment(`measured: ${allowed} calls allowed, ${denied} denied`)
})

t.test('accepts only those of 5,000 random tokens that jose and oauth4webapi accept', async t => {
  const tally = await compareVerdicts(t, 5000)
  t.ok((tally.get('accepted') ?? 0) > 300)
  for (const [verdict, count] of [...tally].toSorted(([, one], [, other]) => other - one))
    t.comment(`measured: ${count} ${verdict}`)
})
