// Pages of all users are read by an index, as EXPLAIN says.
import pg from 'pg'
import t from 'tap'
import { buffersOf, explainQueries } from '../../../harness/databases/explain.ts'
import { gatewright } from '../../../harness/gatewright.ts'
import { hostStoresEnv } from '../../../harness/host-stores.ts'

const USERS = 5000
/**
 * Most pages of 8 KiB of a list of ten among 5000 users, who fill more than 60. Each further partition is merged
 * through its own index: one page of the index and one of the table.
 */
const MAX_BUFFERS = 20

t.test('the first page of users and the last one read no more than their rows', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  t.match(await gatewright(['migrate'], env), { code: 0 })
  const client = new pg.Client({ connectionString: env['DATABASE_URL'] })
  await client.connect()
  await client.query(`insert into gw_users (account_id, id, principal, kyc_status, created_at)
    select 'acc_' || n, 'usr_' || n, 'wallet_' || n, 'not_submitted', n / 3 from generate_series(1, ${USERS}) n`)
  await client.query('analyze gw_users')
  await client.end()
  const explained = explainQueries(text => text.includes('from gw_users u'), 2)
  t.teardown(() => explained.stop())
  const list = (...args: string[]) => gatewright(['users', 'list', '--limit', '10', ...args], env)
  t.match(await list(), { code: 0, output: 'acc_5000' })
  t.match(await list('--after', 'acc_11'), { code: 0 })
  t.equal(explained.found.length, 2)
  for (const { plans } of explained.found)
    for (const plan of plans) t.ok(buffersOf(plan) <= MAX_BUFFERS, `${buffersOf(plan)} pages`)
})
