import { migrateAliasUsage, sqliteAliasUsage } from '@gatewright/legacy-alias-router/sqlite'
import { aliasUsageStorageContract } from '@gatewright/legacy-alias-router/testing'
import t from 'tap'
import { runner } from '../../harness/runner.ts'
import { openSqlite } from '../../harness/stores.ts'

// One connection, as in the host: a transaction that awaits holds SQLite's lock, and a second connection of the
// same process would wait for it without letting it go on.
aliasUsageStorageContract(runner, 'SQLite', async () => {
  const { connections, close } = await openSqlite(1, migrateAliasUsage)
  return { connections: connections.map(db => sqliteAliasUsage(db)), close }
})

t.test('throws a fault when the tables do not exist', async t => {
  const { connections, close } = await openSqlite(1, async () => {})
  t.teardown(close)
  const storage = sqliteAliasUsage(connections[0]!)
  const fault = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }
  await t.rejects(storage.add({ writer: 'w', sequence: 1, rows: [] }, 1), fault)
  await t.rejects(storage.page(undefined, 1), fault)
  await t.rejects(storage.collect(1, 1), fault)
})

t.test('rolls back the number of the writer when the rows cannot be stored', async t => {
  const { connections, close } = await openSqlite(1, migrateAliasUsage)
  t.teardown(close)
  const storage = sqliteAliasUsage(connections[0]!)
  const rows = [{ alias: 'x', caller: 'key', count: 1, firstSeen: 1, lastSeen: 1 }]
  const broken = rows.map(row => ({ ...row, count: 0 }))
  await t.rejects(storage.add({ writer: 'w', sequence: 1, rows: broken }, 1), { name: 'Fault' })
  t.equal(await storage.add({ writer: 'w', sequence: 1, rows }, 1), true)
})
