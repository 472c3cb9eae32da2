import t from 'tap'
import { compareReports } from './compare-reports.ts'

for (const stores of ['embedded', 'postgres'] as const) {
  t.test(`books 20 random histories of reports as the model does, on ${stores}`, async t => {
    const done = await compareReports(stores, { numRuns: 20, steps: 50 })
    t.equal(Object.keys(done).length, 10, 'every kind of step was taken')
    t.comment(`measured ${stores}: ${JSON.stringify(done)}`)
  })
}
