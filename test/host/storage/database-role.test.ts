import { randomBytes } from 'node:crypto'
import pg from 'pg'
import t, { type Test } from 'tap'
import { gatewright } from '../../harness/gatewright.ts'
import { openTestHost } from '../../harness/host.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { newMoneyUser } from '../../reference-host/harness/money.ts'

/** Makes a role that may read and write rows in the schema of a URL, and nothing else. Returns the URL with this role. */
async function roleWithoutDdl(t: Test, databaseUrl: string): Promise<string> {
  const role = `host_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: databaseUrl })
  await admin.connect()
  const { rows } = await admin.query<{ schema: string }>('select current_schema() as schema')
  const schema = rows[0]?.schema as string
  // As docs/upgrades.md says.
  for (const statement of [
    `create role ${role} login password 'secret'`,
    `grant usage on schema ${schema} to ${role}`,
    `alter default privileges in schema ${schema} grant select, insert, update, delete on tables to ${role}`,
    `alter default privileges in schema ${schema} grant usage on sequences to ${role}`,
  ])
    await admin.query(statement)
  t.teardown(async () => {
    await admin.query(`drop owned by ${role}; drop role ${role}`)
    await admin.end()
  })
  const url = new URL(databaseUrl)
  url.username = role
  url.password = 'secret'
  return url.href
}

t.test('a host whose role may not change tables serves', async t => {
  const { env: of, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  const env: Record<string, string> = of
  const url = await roleWithoutDdl(t, env['DATABASE_URL'] as string)
  const own = { ...env, DATABASE_URL: url, MIGRATE: 'off' }
  t.match(await gatewright(['migrate'], own), { code: 1, output: /permission denied for schema/ })
  t.match(await gatewright(['migrate'], env), { code: 0 })
  const admin = new pg.Client({ connectionString: env['DATABASE_URL'] })
  await admin.connect()
  t.teardown(() => admin.end())
  await admin.query(`revoke update, delete, truncate on gw_ledger_legs from ${new URL(url).username}`)

  const host = await openTestHost(t, own)
  const user = await newMoneyUser(host.send)
  t.match(await user.fund(500), { status: 200 })
  t.equal((await host.send('/readyz')).status, 200)
  for (const chore of ['collect garbage', 'maintain keys', 'fold balances', 'run jobs', 'write requests'])
    await host.chore(chore)
  t.same(host.failures, [])
  t.match(await gatewright(['ledger', 'check'], own), { code: 0 })

  const role = new pg.Client({ connectionString: url })
  await role.connect()
  t.teardown(() => role.end())
  for (const change of [
    'update gw_ledger_legs set amount_cents = amount_cents + 1',
    'delete from gw_ledger_legs',
    'truncate gw_ledger_legs',
  ]) {
    await t.rejects(role.query(change), { message: /permission denied for table gw_ledger_legs/ }, change)
  }
  await admin.query("update gw_ledger_legs set amount_cents = amount_cents + 1 where side = 'credit'")
  t.match(await gatewright(['ledger', 'check', '--full'], own), {
    code: 1,
    output: /is not the sum of its transfers/,
  })
})
