import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import t from 'tap'
import { runner } from '../../harness/runner.ts'
import { openSqlite } from '../../harness/stores.ts'

idempotencyStorageContract(runner, 'SQLite', async () => {
  const { connections, close } = await openSqlite(2, migrateIdempotency)
  return { connections: connections.map(db => sqliteIdempotency(db)), close }
})

t.test('throws a fault when the table does not exist', async t => {
  const { connections, close } = await openSqlite(1, async () => {})
  t.teardown(close)
  const fault = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }
  await t.rejects(sqliteIdempotency(connections[0]!).begin('key', 'f', 2000, 1000), fault)
})
