import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import t, { type Test } from 'tap'
import { openDatabaseOf, tableNames } from '../../harness/database-rows.ts'
import { gatewright } from '../../harness/gatewright.ts'
import { startTestHost } from '../../harness/host.ts'
import { hostStoresEnv, type HostStores } from '../../harness/host-stores.ts'

async function fresh(
  t: Test,
  stores: HostStores,
): Promise<{ readonly env: Record<string, string>; readonly db: () => SqlClient }> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-migrate-'))
  const { env: of, drop } = await hostStoresEnv(stores)
  t.teardown(async () => {
    await drop()
    rmSync(folder, { recursive: true, force: true })
  })
  const env = { ...of, DATA_DIR: folder }
  const db = (): SqlClient => {
    const opened = openDatabaseOf(env)
    t.teardown(opened.close)
    return opened.db
  }
  return { env, db }
}

for (const stores of ['embedded', 'postgres'] as const) {
  const dialect = stores === 'embedded' ? 'sqlite' : 'postgres'

  t.test(
    `${stores}: says what the tables miss without changing them, and migrates also with MIGRATE=off`,
    async t => {
      const { env, db } = await fresh(t, stores)
      t.match(await gatewright(['migrate', '--check'], env), {
        code: 3,
        output: /^The tables miss \d+ versions: nonces 1, .*host 1, ledger 1, product 1$/m,
      })
      t.match(await gatewright(['migrate', '--plan'], env), {
        code: 0,
        output: /^-- host 1: hosts must know version 1\n[^;]*create table gw_environment \([^;]*\) ?;\n/m,
      })
      const planned = await gatewright(['migrate', '--plan', '--json'], env)
      t.match(JSON.parse(planned.output), { missing: [{ namespace: 'nonces', version: 1, least: 1 }] })
      t.same(await tableNames(db(), dialect), [])

      t.match(await gatewright(['migrate'], { ...env, MIGRATE: 'off' }), { code: 0 })
      for (const flag of ['--check', '--plan'])
        t.match(await gatewright(['migrate', flag], env), { code: 0, output: 'The tables are up to date.\n' })
    },
  )

  t.test(`${stores}: with MIGRATE=off a host or command refuses tables that miss a version`, async t => {
    const { env, db } = await fresh(t, stores)
    const off = { ...env, MIGRATE: 'off' }
    const refusal = (versions: string): RegExp =>
      new RegExp(
        `its tables miss versions \\(${versions}\\), and MIGRATE is off: run npx gatewright migrate first`,
      )
    t.match(await gatewright(['users', 'show', 'usr_x'], off), { code: 1, output: refusal('nonces 1, .*') })
    await t.rejects(startTestHost(off), { cause: { message: refusal('nonces 1, .*') } })
    t.match(await gatewright(['migrate'], env), { code: 0 })
    const host = await startTestHost(off)
    await host.close()
    await rows(db(), "delete from gw_migrations where namespace = 'product'")
    const { code } = await gatewright(['migrate', '--check'], env)
    t.equal(code, 1, 'tables that nobody recorded are not a missing version')
  })
}

t.test('takes one of --check and --plan', async t => {
  t.match(await gatewright(['migrate', '--check', '--plan'], {}), {
    code: 2,
    output: /migrate takes --check or --plan, not both/,
  })
})

t.test('commands that read no stores work with MIGRATE=off', async t => {
  t.match(await gatewright(['operations'], { MIGRATE: 'off' }), { code: 0 })
})

t.test('reports that it cannot say, where the database cannot be reached', async t => {
  const { env } = await fresh(t, 'postgres')
  const down = { ...env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  t.match(await gatewright(['migrate', '--check'], down), { code: 1, output: /ECONNREFUSED/ })
})
