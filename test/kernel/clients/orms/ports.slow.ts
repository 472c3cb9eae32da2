// The suites of the ports through the client over each ORM.
import { migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import type { SqlClient } from '@gatewright/kernel/sql'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { spendStorageContract } from '@gatewright/scope-guard/testing'
import t from 'tap'
import { openOrm, ORM_NAMES, type OpenedOrm } from '../../../harness/databases/orms.ts'
import { runner } from '../../../harness/runner.ts'

const opened = new Map<string, OpenedOrm>()
t.before(async () => {
  for (const name of ORM_NAMES) {
    const orm = await openOrm(name, 4, 2)
    opened.set(name, orm)
    const [db] = orm.connections as readonly SqlClient[]
    await migrateIdempotency(db!)
    await migrateSpends(db!)
  }
})
t.teardown(async () => {
  for (const orm of opened.values()) await orm.close()
})

for (const name of ORM_NAMES) {
  const open = async <Storage>(
    onPostgres: (db: SqlClient) => Storage,
    onSqlite: (db: SqlClient) => Storage,
  ) => {
    const clients = (opened.get(name)?.connections ?? []) as readonly SqlClient[]
    const connections = clients.map(db => (db.dialect === 'sqlite' ? onSqlite(db) : onPostgres(db)))
    return { connections, close: async () => {} }
  }
  idempotencyStorageContract(runner, name, () => open(postgresIdempotency, sqliteIdempotency))
  spendStorageContract(runner, name, () => open(postgresSpends, sqliteSpends))
}
