// A fresh table and one of a million records: every statement of the record goes by an index, alone and together, as
// it is planned for its values and as it is planned once for all.
import { migrate, postgresStorage } from '@gatewright/idempotency-store/postgres'
import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { buffersOf, explainQueries, nodesOf, type Explained } from '../../harness/explain.ts'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'
import { LEASE, NOW } from './hosts.ts'

const MILLION = 1_000_000
/** Four pages a look into an index of a million: to find, to lock, to write, and to enter it in two indexes. */
const MOST_BUFFERS_A_KEY = 25

/** Runs each verb: 64 calls together for new, held and ended keys, one alone, and a collection. */
async function everyVerb(db: SqlClient, name: string): Promise<void> {
  const storage = postgresStorage(db)
  // The first of the 65 goes alone.
  const begin = (now: number): Promise<unknown> =>
    race(65, index => storage.begin(`${name} ${index}`, 'f', LEASE, now))
  const end = (fence: number): Promise<unknown> =>
    race(65, index =>
      storage.end(`${name} ${index}`, fence, { state: 'done', answer: '{}', expiresAt: LEASE }, NOW),
    )
  await begin(NOW)
  await end(NOW)
  await begin(NOW)
  await begin(LEASE)
  await end(LEASE)
  await storage.collect(100, NOW)
}

function judge(t: Test, { text, plans }: Explained): void {
  const together = text.includes('unnest')
  const what = `${/delete|begun/.exec(text)?.[0] ?? 'end'}${together ? ' together' : ''}`
  for (const [at, plan] of plans.entries()) {
    const nodes = nodesOf(plan)
    const line = `${what}, ${['custom', 'generic'][at]}: ${buffersOf(plan)} buffers`
    t.notOk(
      nodes.some(node => node['Node Type'] === 'Seq Scan'),
      `no whole table: ${line}`,
    )
    t.ok(
      nodes.some(node => node['Index Name']),
      `by index: ${line}`,
    )
    t.ok(buffersOf(plan) <= MOST_BUFFERS_A_KEY * (together ? 64 : 2), line)
  }
}

t.setTimeout(900_000)

t.test('every statement goes by an index, on a fresh table and among a million records', async t => {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const db = fromPgPool(pool)
  await migrate(db)
  const explained = explainQueries(text => text.includes('gw_idempotency'), 3)
  t.teardown(() => explained.stop())
  await everyVerb(db, 'fresh')
  const fresh = explained.found.splice(0).filter(({ text }) => !text.includes('delete'))
  explained.stop()

  const digest = "rpad(md5(n::text), 43, 'x')"
  await pool.query(`insert into gw_idempotency
    select ${digest}, ${digest}, 'owner', n, (array['running', 'done', 'free'])[1 + n % 3], ${LEASE} + n, '{}'
      from generate_series(1, ${MILLION}) as n`)
  await pool.query('vacuum analyze gw_idempotency')
  const among = explainQueries(text => text.includes('gw_idempotency'), 3)
  t.teardown(() => among.stop())
  await everyVerb(db, 'among')
  among.stop()

  for (const found of [fresh, among.found]) {
    const together = found.filter(({ text }) => text.includes('unnest'))
    t.equal(new Set(together.map(({ text }) => text)).size, 2, 'begins and endings shared statements')
    for (const each of found) judge(t, each)
  }
  t.equal(new Set(among.found.map(({ text }) => text)).size, 5, 'every statement was sent')
  const most = Math.max(...among.found.flatMap(({ plans }) => plans.map(buffersOf)))
  t.comment(`measured ${most} buffers at most for 64 keys among ${MILLION} records`)
})
