import t from 'tap'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'
import { openDivided, recordStatements, refusedStatements } from '../harness/partitions.ts'
import { fuzzOperations } from './fuzz.ts'

for (const stores of ['embedded', 'postgres+redis'] as const) {
  t.test(`answers 2,000 random requests to every operation as documented, on ${stores}`, async t => {
    const { env, drop } = await keptHostStoresEnv(stores)
    t.teardown(drop)
    const { operations, succeeded, statuses } = await fuzzOperations(2000, { env })
    t.ok(succeeded.size > 100, 'most operations succeed')
    const counts = JSON.stringify(Object.fromEntries(statuses))
    t.comment(
      `measured: ${succeeded.size} of ${operations} operations succeeded; responses by status ${counts}`,
    )
  })
}

t.test('Citus refuses no statement of any operation', async t => {
  const { env, pool, close } = await openDivided()
  t.teardown(close)
  const recorded = recordStatements()
  const { succeeded } = await fuzzOperations(600, { env })
  recorded.stop()
  t.ok(succeeded.size > 60, 'many operations succeed')
  t.same(await refusedStatements(pool, recorded.sent), [])
})
