import { migrateAliasUsage, postgresAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { aliasUsageStorageContract, aliasUsageStorageFaults } from '@gatewright/legacy-alias-router/testing'
import t from 'tap'
import { faultyPostgres, faultyStores } from '../../harness/databases/faulty.ts'
import { openKeptPostgres } from '../../harness/databases/kept-postgres.ts'
import { migratesAtOnce } from '../../harness/databases/store-cases.ts'
import { runner } from '../../harness/runner.ts'

aliasUsageStorageContract(runner, 'Postgres', async () => {
  const { connections, close } = await openKeptPostgres(4, migrateAliasUsage)
  return { connections: connections.map(db => postgresAliasUsage(db)), close }
})

aliasUsageStorageFaults(runner, 'Postgres', () =>
  faultyStores(faultyPostgres(migrateAliasUsage), db => postgresAliasUsage(db)),
)

t.test('counts a batch once when it is sent again in a second open transaction', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateAliasUsage)
  t.teardown(close)
  const [one, two] = connections
  const rows = [{ alias: 'x', caller: 'key', count: 1, firstSeen: 1, lastSeen: 1 }]
  const batch = { writer: 'w', sequence: 1, rows }
  let again: Promise<boolean> | undefined
  await one!.transaction(async tx => {
    t.equal(await postgresAliasUsage(tx).add(batch, 1), true)
    // The second transaction is open now and waits for the writer's row.
    again = two!.transaction(other => postgresAliasUsage(other).add(batch, 1))
  })
  t.equal(await again, false)
  t.match(await postgresAliasUsage(one!).page(undefined, 10), [{ count: 1 }])
})

migratesAtOnce(migrateAliasUsage, db => postgresAliasUsage(db).page(undefined, 10))
