import { fromPgPool, rows } from '@gatewright/kernel/sql'
import type { SpendStorage } from '@gatewright/scope-guard'
import { migrateSpends, postgresApprovals, postgresSpends } from '@gatewright/scope-guard/postgres'
import {
  approvalStorageContract,
  approvalStorageFaults,
  spendStorageContract,
  spendStorageFaults,
} from '@gatewright/scope-guard/testing'
import t from 'tap'
import { countingProxy, postgresStatements } from '../../bench/shared-stores/counting-proxy.ts'
import { faultyPostgres, faultyStores } from '../../harness/databases/faulty.ts'
import { openKeptPostgres } from '../../harness/databases/kept-postgres.ts'
import { migratesAtOnce } from '../../harness/databases/store-cases.ts'
import { request } from './approval-request.ts'
import { runner } from '../../harness/runner.ts'
import { openPostgresPool } from '../../harness/stores.ts'

spendStorageContract(runner, 'Postgres', async () => {
  const { connections, close } = await openKeptPostgres(4, migrateSpends)
  return { connections: connections.map(db => postgresSpends(db)), close }
})

spendStorageFaults(runner, 'Postgres', () =>
  faultyStores(faultyPostgres(migrateSpends), db => postgresSpends(db)),
)

approvalStorageContract(runner, 'Postgres', async () => {
  const { connections, close } = await openKeptPostgres(4, migrateSpends)
  return { connections: connections.map(db => postgresApprovals(db)), close }
})

approvalStorageFaults(runner, 'Postgres', () =>
  faultyStores(faultyPostgres(migrateSpends), db => postgresApprovals(db)),
)

t.test('uses an approval in the transaction of the caller, or not at all', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateSpends)
  t.teardown(close)
  const [one, two] = connections
  const approvals = postgresApprovals(one!)
  await approvals.open({ id: 'apr', request, requestedAt: 0, expiresAt: 9 }, 9)
  await approvals.decide('a', 'apr', { state: 'approved', by: 'o' }, 1)
  const attempt = async (commit: boolean): Promise<boolean> => {
    let waiting: Promise<boolean> | undefined
    await one!
      .transaction(async tx => {
        await postgresApprovals(tx).use('a', 'apr', 'first', 1)
        waiting = postgresApprovals(two!).use('a', 'apr', commit ? 'third' : 'second', 1)
        if (!commit) throw new Error('roll back')
      })
      .catch(() => undefined)
    return (await waiting) as boolean
  }
  t.equal(await attempt(false), true, 'another effect uses it when the first is rolled back')
  await rows(one!, "update gw_approvals set state = 'approved' returning id")
  t.equal(await attempt(true), false, 'and does not when it commits')
})

const item = { counter: 'c', unit: 'cents', cap: 10, amount: 6, expiresAt: null } as const

t.test('makes a second open transaction wait, and continues it when the first rolls back', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateSpends)
  t.teardown(close)
  const [one, two] = connections
  const attempt = async (commit: boolean, account: string): Promise<string> => {
    let waiting: Promise<string> | undefined
    await one!
      .transaction(async tx => {
        await postgresSpends(tx).reserve(account, 'first', [item], 0)
        waiting = two!.transaction(
          async other => (await postgresSpends(other).reserve(account, 'second', [item], 0)).outcome,
        )
        if (!commit) throw new Error('roll back')
      })
      .catch(() => undefined)
    return (await waiting) as string
  }
  t.equal(await attempt(false, 'a'), 'held')
  t.equal(await attempt(true, 'b'), 'over')
})

t.test(
  'reserves and settles in one round trip each of a transaction, and writes with its commit',
  async t => {
    const { schema, close } = await openKeptPostgres(1, migrateSpends)
    t.teardown(close)
    const proxy = await countingProxy(process.env['TEST_POSTGRES_URL'] as string, postgresStatements)
    const pool = await openPostgresPool(schema, 1, proxy.url)
    t.teardown(() => pool.end().finally(() => proxy.close()))
    const db = fromPgPool(pool, { prepare: true })
    await rows(db, 'select 1')
    for (const step of [
      (spends: SpendStorage) => spends.reserve('a', 'h', [item, { ...item, counter: 'd' }], 0),
      (spends: SpendStorage) => spends.settle('a', 'h', 1),
    ]) {
      const before = proxy.traffic.roundTrips
      await db.transaction(async tx => void (await step(postgresSpends(tx))), { lazyBegin: true })
      t.equal(proxy.traffic.roundTrips - before, 2, 'one to decide, one to write and commit')
    }
  },
)

migratesAtOnce(migrateSpends, db => postgresSpends(db).reserve('a', 'h', [item], 0))
