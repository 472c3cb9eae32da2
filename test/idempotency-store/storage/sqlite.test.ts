import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
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

t.test('finds lost runs by an index, however many records there are', async t => {
  const { connections, close } = await openSqlite(1, migrateIdempotency)
  t.teardown(close)
  const db = connections[0]!
  const plans: unknown[] = []
  const explained: SqlQueries = {
    dialect: db.dialect,
    async query(text, values) {
      plans.push(...(await rows(db, `explain query plan ${text}`, values)).map(({ detail }) => detail))
      return db.query(text, values)
    },
  }
  await sqliteIdempotency(explained).listLost({ limit: 10, now: 1 })
  await sqliteIdempotency(explained).listLost({ limit: 10, now: 1, account: 'ann' })
  t.equal(
    plans.filter(plan => /USING INDEX gw_idempotency_lost/.test(String(plan))).length,
    2,
    plans.join('; '),
  )
  t.notMatch(plans.join(), /SCAN gw_idempotency(?! USING)/)
})
