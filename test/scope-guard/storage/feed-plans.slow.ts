// A page of a feed with many entries reads no more of a lane than the page has, wherever the reader is; a poll that finds nothing reads a few pages of
// an index.
import { FEED_START } from '@gatewright/kernel'
import { fromPgPool } from '@gatewright/kernel/sql'
import { sqlRevocationFeed } from '@gatewright/scope-guard/postgres'
import { migrateCredentials } from '@gatewright/session-issuer/postgres'
import t from 'tap'
import { buffersOf, explainQueries, nodesOf } from '../../harness/databases/explain.ts'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'
import { MANY_ROWS } from '../../harness/turns.ts'

const LANES = FEED_START.length
const OF_A_LANE = Math.floor(MANY_ROWS / LANES)
const LIMIT = 10

t.test(`reads a page of each lane among ${MANY_ROWS} entries by the index alone`, async t => {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const db = fromPgPool(pool)
  await migrateCredentials(db)
  await pool.query(`insert into gw_feed (lane, position, kind, id, version, at) overriding system value
    select (n % ${LANES})::text, n / ${LANES} + 1, 'key', 'key_' || n, 2, n from generate_series(0, ${OF_A_LANE * LANES - 1}) n`)
  await pool.query('vacuum analyze gw_feed')
  const explained = explainQueries(text => text.includes('from gw_feed'), 100)
  t.teardown(() => explained.stop())

  const feed = sqlRevocationFeed(db)
  for (const read of [0, Math.floor(OF_A_LANE / 2), OF_A_LANE - 2 * LIMIT, OF_A_LANE - LIMIT]) {
    const found = await feed.after(Array(LANES).fill(read), LIMIT)
    t.equal(found.length, LANES * LIMIT)
  }
  const backlog = explained.found.splice(0)
  t.same(await feed.after(Array(LANES).fill(OF_A_LANE), LIMIT), [])
  t.same(await feed.after(Array(LANES).fill(OF_A_LANE), LIMIT), [])
  const last = [OF_A_LANE - 3, ...Array<number>(LANES - 1).fill(OF_A_LANE)]
  t.equal((await feed.after(last, LIMIT)).length, 3)
  t.equal((await feed.after(last, 3)).length, 3)
  t.equal(
    (await feed.after(Array(LANES).fill(0), LIMIT)).length,
    LANES * LIMIT,
    'a page of each lane behind a full one',
  )
  explained.stop()
  backlog.push(...explained.found.splice(-1))
  const few = explained.found

  t.equal(backlog.length, 5)
  t.equal(few.length, 4)
  for (const [name, found, most] of [
    ['a page', backlog, LANES * (LIMIT + 5)],
    ['a poll', few, LANES * 5],
  ] as const)
    for (const { plans } of found)
      for (const plan of plans) {
        t.ok(buffersOf(plan) <= most, `${name}: ${buffersOf(plan)} buffers`)
        for (const node of nodesOf(plan).filter(each => each['Relation Name'] === 'gw_feed')) {
          t.ok((node['Actual Rows'] ?? 0) <= LIMIT, 'no more than a page')
          t.equal(node['Rows Removed by Filter'] ?? 0, 0)
        }
      }
})
