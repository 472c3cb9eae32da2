import { migrate, postgresStorage } from '@gatewright/legacy-alias-router/postgres'
import { aliasUsageStorageContract, aliasUsageStorageFaults } from '@gatewright/legacy-alias-router/testing'
import t from 'tap'
import { faultyPostgres } from '../../harness/faulty.ts'
import { runner } from '../../harness/runner.ts'
import { openPostgres } from '../../harness/stores.ts'

aliasUsageStorageContract(runner, 'Postgres', async () => {
  const { connections, close } = await openPostgres(4, migrate)
  return { connections: connections.map(db => postgresStorage(db)), close }
})

aliasUsageStorageFaults(runner, 'Postgres', async () => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await faultyPostgres(migrate)
  return {
    healthy: postgresStorage(healthy),
    cutBefore: postgresStorage(cutBefore),
    cutAfter: postgresStorage(cutAfter),
    malformed: postgresStorage(malformed),
    close,
  }
})

t.test('counts a batch once when it is sent again in a second open transaction', async t => {
  const { connections, close } = await openPostgres(2, migrate)
  t.teardown(close)
  const [one, two] = connections
  const rows = [{ alias: 'x', principal: 'key', count: 1, firstSeen: 1, lastSeen: 1 }]
  const batch = { writer: 'w', sequence: 1, rows }
  let again: Promise<boolean> | undefined
  await one!.transaction(async tx => {
    t.equal(await postgresStorage(tx).add(batch, 1), true)
    // The second transaction is open now and waits for the writer's row.
    again = two!.transaction(other => postgresStorage(other).add(batch, 1))
  })
  t.equal(await again, false)
  t.match(await postgresStorage(one!).page(undefined, 10), [{ count: 1 }])
})

t.test('migrates when 8 instances do so at once, and again', async t => {
  const { connections, close } = await openPostgres(8, async () => {})
  t.teardown(close)
  await Promise.all(connections.map(db => migrate(db)))
  await migrate(connections[0]!)
  t.same(await postgresStorage(connections[0]!).page(undefined, 10), [])
})
