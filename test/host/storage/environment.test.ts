import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rows } from '@gatewright/kernel/sql'
import t, { type Test } from 'tap'
import { openDatabaseOf, tableNames } from '../../harness/database-rows.ts'
import { gatewright } from '../../harness/gatewright.ts'
import { startTestHost } from '../../harness/host.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'

const LIVE = {
  GATEWRIGHT_ENV: 'live',
  SERVICE_NAME: 'Acme',
  PUBLIC_URL: 'https://api.example.com',
  TRUST_PROXY: '127.0.0.0/8',
}

async function freshStores(t: Test, stores: 'embedded' | 'postgres'): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-environment-'))
  const { env, drop } = await hostStoresEnv(stores)
  t.teardown(async () => {
    await drop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { ...env, DATA_DIR: folder, PORT: '0' }
}

t.test('a host or command without GATEWRIGHT_ENV does not join the database of a live host', async t => {
  const env = await freshStores(t, 'postgres')
  const live = { ...env, ...LIVE }
  t.match(await gatewright(['migrate'], live), { code: 0 })
  const message =
    /holds the data of a live host: set GATEWRIGHT_ENV=live, or DATABASE_URL to another database$/
  for (const name of [undefined, '', 'sandbox'])
    t.match(await gatewright(['users', 'show', 'usr_x'], { ...env, GATEWRIGHT_ENV: name }), {
      code: 1,
      output: new RegExp(message, 'm'),
    })
  await t.rejects(startTestHost({ ...env, TRUST_PROXY: '' }), { cause: { message } })
  const host = await startTestHost(live)
  await host.close()
})

t.test('a live host does not join the database of a sandbox', async t => {
  const env = await freshStores(t, 'postgres')
  t.match(await gatewright(['migrate'], env), { code: 0 })
  t.match(await gatewright(['migrate'], { ...env, ...LIVE }), {
    code: 1,
    output: /holds the data of a sandbox host: set GATEWRIGHT_ENV=sandbox, or DATABASE_URL/,
  })
})

t.test('of hosts that open a new database at once, those of one environment start', async t => {
  const env = await freshStores(t, 'postgres')
  const envs = [env, { ...env, ...LIVE }, env, { ...env, ...LIVE }]
  const [first, second, third, fourth] = await Promise.all(
    envs.map(async each => (await gatewright(['migrate'], each)).code),
  )
  t.equal(first, third)
  t.equal(second, fourth)
  t.not(first, second)
})

for (const stores of ['embedded', 'postgres'] as const) {
  t.test(
    `${stores}: a start after one that ended before it named the environment of the database names it`,
    async t => {
      const env = await freshStores(t, stores)
      t.match(await gatewright(['migrate'], env), { code: 0 })
      const { db, close } = openDatabaseOf(env)
      await rows(db, 'delete from gw_environment')
      t.match(await gatewright(['migrate'], env), { code: 0 })
      t.match(await rows(db, 'select name from gw_environment'), [{ name: 'sandbox' }])
      await rows(db, "update gw_environment set name = 'live'")
      await close()
      const place = stores === 'embedded' ? 'DATA_DIR to another folder' : 'DATABASE_URL to another database'
      t.match(await gatewright(['migrate'], env), { code: 1, output: new RegExp(`or ${place}`) })
    },
  )

  t.test(`${stores}: migrates no database of another environment`, async t => {
    const env = await freshStores(t, stores)
    const { db, close } = openDatabaseOf(env)
    await rows(db, 'create table gw_environment (id integer primary key, name text not null)')
    await rows(db, "insert into gw_environment (id, name) values (1, 'live')")
    const tables = () => tableNames(db, stores === 'embedded' ? 'sqlite' : 'postgres')
    const before = await tables()
    t.match(await gatewright(['users', 'show', 'usr_x'], env), { code: 1, output: /of a live host/ })
    t.same(await tables(), before)
    await close()
  })
}
