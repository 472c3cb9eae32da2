// On a fresh table and on one of a million records, every statement uses an index: single and batched, with a custom and
// with a generic plan.
import { migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { buffersOf, explainQueries, nodesOf, type StatementPlans } from '../../harness/databases/explain.ts'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'
import { LEASE, NOW } from './hosts.ts'

const MILLION = 1_000_000
/**
 * A look into an index of a million reads four pages: to find, to lock, to write, and to update two indexes. Each begin was
 * explained twice before, and the versions that this left are read once more by the first ending: 29 pages.
 */
const MAX_BUFFERS_A_KEY = 32

/** Calls each method: 64 batched calls for new, running and ended keys, a single one, and a collection. */
async function callEveryMethod(db: SqlClient, name: string): Promise<void> {
  const storage = postgresIdempotency(db)
  // The first of the 65 is sent alone.
  const begin = (now: number): Promise<unknown> =>
    race(65, index => storage.begin(`${name} ${index}`, 'f', LEASE, now))
  const end = (fence: number): Promise<unknown> =>
    race(65, index =>
      storage.end(`${name} ${index}`, fence, { state: 'done', response: '{}', expiresAt: LEASE }, NOW),
    )
  await begin(NOW)
  await end(NOW)
  await begin(NOW)
  await begin(LEASE)
  await end(LEASE)
  await storage.collect(100, NOW)
}

function checkPlans(t: Test, { text, plans }: StatementPlans): void {
  const batched = text.includes('unnest')
  const what = `${/delete|begun|insert|select/.exec(text)?.[0] ?? 'end'}${batched ? ' batched' : ''}`
  for (const [at, plan] of plans.entries()) {
    const nodes = nodesOf(plan)
    const line = `${what}, ${['custom', 'generic'][at]}: ${buffersOf(plan)} buffers`
    t.notOk(
      nodes.some(node => node['Node Type'] === 'Seq Scan'),
      `no whole table: ${line}`,
    )
    t.ok(
      nodes.some(node => node['Index Name'] ?? node['Conflict Arbiter Indexes']),
      `by index: ${line}`,
    )
    t.ok(buffersOf(plan) <= MAX_BUFFERS_A_KEY * (batched ? 64 : 1), line)
  }
}

t.setTimeout(1_800_000)

t.test('every statement uses an index, on a fresh table and among a million records', async t => {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const db = fromPgPool(pool)
  await migrateIdempotency(db)
  const explained = explainQueries(text => text.includes('gw_idempotency'), 3)
  t.teardown(() => explained.stop())
  await callEveryMethod(db, 'fresh')
  const fresh = explained.found.splice(0).filter(({ text }) => !text.includes('delete'))
  explained.stop()

  const digest = "rpad(md5(n::text), 43, 'x')"
  await pool.query(`insert into gw_idempotency
    select 'acc_' || n % 100, ${digest}, ${digest}, 'owner', n, (array['running', 'done', 'free'])[1 + n % 3], ${LEASE} + n,
      'payments.create', 'acc_' || n % 100, n, '{}', null
      from generate_series(1, ${MILLION}) as n`)
  await pool.query('vacuum analyze gw_idempotency')
  const among = explainQueries(text => text.includes('gw_idempotency'), 3)
  t.teardown(() => among.stop())
  await callEveryMethod(db, 'among')
  among.stop()

  for (const found of [fresh, among.found]) {
    const batched = found.filter(({ text }) => text.includes('unnest'))
    t.equal(new Set(batched.map(({ text }) => text)).size, 2, 'begins and endings shared statements')
    for (const each of found) checkPlans(t, each)
  }
  t.equal(new Set(among.found.map(({ text }) => text)).size, 7, 'every statement was sent')
  const most = Math.max(...among.found.flatMap(({ plans }) => plans.map(buffersOf)))
  t.comment(`measured ${most} buffers at most for 64 keys among ${MILLION} records`)
})
