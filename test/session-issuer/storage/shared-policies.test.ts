// Databases of version 2 have a policy for one lineage only. The migration keeps the policies that are stored.
import { readFileSync } from 'node:fs'
import { migrate, readVersions, rows, type SqlClient } from '@gatewright/kernel/sql'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import { migrateCredentials as migrateSqlite, sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import t from 'tap'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

for (const [dialect, open, upgrade, storageOf] of [
  ['sqlite', openSqlite, migrateSqlite, sqliteCredentials],
  ['postgres', openPostgres, migrateCredentials, postgresCredentials],
] as const) {
  void t.test(`a migration keeps the policies of keys, on ${dialect}`, async t => {
    const { connections, close } = await open(1, async () => {})
    t.teardown(close)
    const db = connections[0] as SqlClient
    const text = readFileSync(`packages/session-issuer/src/storage/${dialect}.sql`, 'utf8')
    await migrate(db, dialect, { namespace: 'session-issuer', versions: readVersions(text).slice(0, 2) })
    await rows(db, 'insert into gw_key_policies (id, lineage_id, document) values ($1, $2, $3)', [
      'pol_1',
      'lineage',
      '{"dailySpendCapCents":500}',
    ])
    await upgrade(db)
    t.same(await storageOf(db).keys.policies(['pol_1']), [
      { id: 'pol_1', document: { dailySpendCapCents: 500 } },
    ])
  })
}
