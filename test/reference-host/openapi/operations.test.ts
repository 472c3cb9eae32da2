import t from 'tap'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'
import { fuzzOperations } from './fuzz.ts'

// `operations.slow.ts` sends more, on both stores.
for (const stores of ['embedded'] as const) {
  t.test(`answers random requests to every operation as documented, on ${stores}`, async t => {
    const { env, drop } = await keptHostStoresEnv(stores)
    t.teardown(drop)
    const { succeeded, statuses } = await fuzzOperations(60, { env })
    t.ok(succeeded.size > 10, 'requests succeed')
    t.ok((statuses.get(400) ?? 0) > 2, 'requests are denied')
  })
}
