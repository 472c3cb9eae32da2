import t from 'tap'
import { compareReports } from './compare-reports.ts'
import { randomCases } from '../../harness/random-cases.ts'

for (const stores of ['embedded', 'postgres'] as const) {
  t.test(`books reports in excess, late, twice and in any order as the model does, on ${stores}`, async t => {
    const done = await compareReports(stores, { numRuns: randomCases(8), steps: 40 })
    t.ok(Object.keys(done).length > 3, 'steps of several kinds were taken')
  })
}
