import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import t, { type Test } from 'tap'
import { openDatabaseOf, tableNames } from '../../harness/database-rows.ts'
import { gatewright } from '../../harness/gatewright.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'

async function migrated(
  t: Test,
  stores: 'embedded' | 'postgres',
  change: readonly string[],
): Promise<{ env: Record<string, string>; db: SqlClient; before: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-open-'))
  const { env: of, drop } = await hostStoresEnv(stores)
  t.teardown(async () => {
    await drop()
    rmSync(folder, { recursive: true, force: true })
  })
  const env = { ...of, DATA_DIR: folder }
  t.match(await gatewright(['migrate'], env), { code: 0 })
  const { db, close } = openDatabaseOf(env)
  t.teardown(close)
  for (const statement of change) await rows(db, statement)
  return { env, db, before: await tableNames(db, stores === 'embedded' ? 'sqlite' : 'postgres') }
}

for (const [stores, place] of [
  ['embedded', 'DATA_DIR to another folder'],
  ['postgres', 'DATABASE_URL to another database'],
] as const)
  for (const [what, change, problem] of [
    [
      'tables that need newer software',
      ["insert into gw_migrations (namespace, version, least_version) values ('host', 7, 2)"],
      'has version 7, which needs software that knows version 2, this software knows version 1 of namespace host: start the newer software',
    ],
    [
      'tables whose version nobody recorded',
      ['drop table gw_migrations'],
      'has a table gw_nonces without a recorded version, this software knows version 1 of namespace nonces: an unreleased build',
    ],
    [
      'versions recorded in another form',
      ['alter table gw_migrations rename column namespace to other'],
      'has a table gw_migrations without the column namespace, this software knows version 1 of namespace nonces: an unreleased build',
    ],
  ] as const)
    t.test(`${stores}: a host or command rejects ${what}, and says which variable to set`, async t => {
      const { env, db, before } = await migrated(t, stores, change)
      const { code, output } = await gatewright(['migrate'], env)
      t.equal(code, 1)
      t.match(output, problem)
      t.match(output, `(set ${place})`)
      t.match(
        output,
        stores === 'embedded' ? join(env['DATA_DIR'] as string, 'host.sqlite') : /database \w+ has/,
      )
      t.same(await tableNames(db, stores === 'embedded' ? 'sqlite' : 'postgres'), before)
    })
