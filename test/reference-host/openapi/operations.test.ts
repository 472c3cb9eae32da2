import { randomInt } from 'node:crypto'
import t from 'tap'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'
import { fuzzOperations } from './fuzz.ts'

// `operations.slow.ts` sends more, on both stores.
for (const stores of ['embedded'] as const) {
  t.test(`answers random requests to every operation as documented, on ${stores}`, async t => {
    const { env, drop } = await keptHostStoresEnv(stores)
    t.teardown(drop)
    const seed = randomInt(2 ** 31)
    const { succeeded, statuses } = await fuzzOperations(60, { env, seed })
    const seen = { seed, statuses: [...statuses] }
    // About 20 of each: so few requests tell no more than that both occur.
    t.ok(succeeded.size > 0, 'requests succeed', seen)
    t.ok(statuses.has(400), 'requests are denied', seen)
  })
}
