// `gatewright distribute` on a real Citus: interrupted, repeated, beside a host, and followed by migrations.
import pg from 'pg'
import { migrate, fromPgPool } from '@gatewright/kernel/sql'
import { undistributed } from '@gatewright/kernel/internal/sql'
import t, { type Test } from 'tap'
import { gatewright } from '../harness/gatewright.ts'
import { openTestHost } from '../harness/host.ts'
import { hostSecrets } from '../harness/host-stores.ts'
import { uniqueName } from '../harness/stores.ts'

t.setTimeout(600_000)

/** The environment of a host in a new schema, of which no table is distributed. */
async function migrated(t: Test): Promise<{ readonly env: Record<string, string>; readonly pool: pg.Pool }> {
  const url = new URL(process.env['TEST_POSTGRES_URL'] as string)
  const schema = uniqueName()
  url.searchParams.set('options', `-c search_path=${schema}`)
  const pool = new pg.Pool({ connectionString: url.href, max: 1 })
  await pool.query(`create schema ${schema}`)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const env = { ...hostSecrets(), DATABASE_URL: url.href }
  const { code, output } = await gatewright(['migrate'], env)
  t.equal(code, 0, output)
  return { env, pool }
}

t.test(
  'distributes every table once, goes on where it was, and migrations distribute what they add',
  async t => {
    const { env, pool } = await migrated(t)
    const plan = await gatewright(['distribute', '--plan'], env)
    const statements = plan.output.trim().split('\n')
    t.match(statements.at(-1), "create_distributed_table('gw_lock_rows', 'account_id')", 'the locks are last')
    // As if it had been killed after these.
    for (const statement of statements.slice(0, 3)) await pool.query(statement)
    t.match(await gatewright(['distribute', '--yes'], env), {
      code: 0,
      output: `${statements.length - 3} tables were distributed.\n`,
    })
    t.match(await gatewright(['distribute', '--yes'], env), {
      code: 0,
      output: 'All tables are distributed.\n',
    })
    const ddl = '-- version 1\ncreate table {prefix}later (account_id {id} primary key) {by account_id};\n'
    await migrate(fromPgPool(pool), { namespace: 'later', ddl })
    t.same(await undistributed(fromPgPool(pool), [{ table: 'gw_later', column: 'account_id' }]), [])
  },
)

t.test('beside a host that writes it refuses, or distributes concurrently', async t => {
  const { env } = await migrated(t)
  const host = await openTestHost(t, env)
  t.equal((await fetch(`${host.url}/readyz`)).status, 200)
  t.match(await gatewright(['distribute', '--yes'], env), {
    code: 1,
    output: /a host has written in the last 15 seconds/,
  })
  t.match(await gatewright(['distribute', '--concurrently', '--yes'], env), {
    code: 0,
    output: /tables were distributed/,
  })
  t.equal((await fetch(`${host.url}/readyz`)).status, 200)
})
