// What one host needs to delete what 2,000 writes a second leave: an event, a kept request and an idempotency record each. First a backlog of
// all three, then rows that come while it deletes, for a while; the tables must not grow meanwhile.
import pg from 'pg'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { startTestHost } from '../harness/host.ts'
import { extent, reportMissed } from './extent.ts'
import { columns } from './report.ts'

const BACKLOG = extent(200_000, 1000)
const WRITES_A_SECOND = 2000
const SECONDS = extent(40, 1)
/** Rounds come this often here; a host starts one each minute. */
const ROUND_SECONDS = 5
const TABLES = ['gw_events', 'gw_requests', 'gw_idempotency'] as const

/** Rows that are due, of 1,000 accounts, numbered from `$1` on, `$2` of each table. */
const INSERTS = [
  `insert into gw_events (id, account_id, subject_kind, subject_id, number, from_status, to_status, cause, amount_cents, at, kept)
    select 'evt_' || md5(n::text), 'acc_' || md5((n % 1000)::text), 'payment', 'pay_' || md5(n::text), 1, null, 'completed', 'paid', 300, n, 0
    from generate_series($1::bigint, $1::bigint + $2::bigint - 1) n`,
  `insert into gw_requests (account_id, at, id, method, operation, key_id, status, replayed, duration_us)
    select 'acc_' || md5((n % 1000)::text), n, 'req_' || md5(n::text), 'POST', 'payments.create', 'key_' || md5((n % 1000)::text), 200, 0, 900
    from generate_series($1::bigint, $1::bigint + $2::bigint - 1) n`,
  `insert into gw_idempotency (account_id, digest, fingerprint, owner, fence, state, until, operation, account, began, response)
    select 'acc_' || md5((n % 1000)::text), md5(n::text), md5(n::text), '', 1, 'done', n, 'payments.create', '', n, repeat(md5(n::text), 8)
    from generate_series($1::bigint, $1::bigint + $2::bigint - 1) n`,
] as const

const stores = await hostStoresEnv('postgres')
const host = await startTestHost({
  ...stores.env,
  RATE_LIMITS: 'off',
  REQUEST_LOG: 'off',
})
const pool = new pg.Pool({ connectionString: stores.env['DATABASE_URL'] as string, max: TABLES.length })
let added = 1

/** Adds so many due rows to each table. */
async function add(count: number): Promise<void> {
  const first = added
  added += count
  await Promise.all(INSERTS.map(text => pool.query(text, [first, count])))
}

/** Runs a round of the collector, and returns its seconds. */
async function collect(): Promise<number> {
  const started = performance.now()
  await host.chore('collect garbage')
  return (performance.now() - started) / 1000
}

async function sizes(): Promise<readonly number[]> {
  return Promise.all(
    TABLES.map(async table => {
      const { rows } = await pool.query(`select pg_total_relation_size('${table}') / 1e6 as mb`)
      return Number(rows[0].mb)
    }),
  )
}

const megabytes = (all: readonly number[]): string[] => all.map(mb => mb.toFixed(0))

try {
  await add(BACKLOG)
  const full = await sizes()
  const seconds = await collect()
  const rate = (TABLES.length * BACKLOG) / seconds
  console.log(`a backlog of ${TABLES.length * BACKLOG} rows: ${rate.toFixed(0)} rows a second`)

  // From here on space is used again, as autovacuum does it.
  const vacuum = (): Promise<unknown> =>
    Promise.all(TABLES.map(table => pool.query(`vacuum analyze ${table}`)))
  await vacuum()
  let busy = 0
  const grown: string[][] = [
    ['seconds', ...TABLES],
    ['0', ...megabytes(full)],
  ]
  const started = performance.now()
  for (let second = 1; second <= SECONDS; second += 1) {
    await add(WRITES_A_SECOND)
    if (second % ROUND_SECONDS === 0 || second === SECONDS) busy += await collect()
    if (second % (2 * ROUND_SECONDS) === 0) {
      await vacuum()
      grown.push([String(second), ...megabytes(await sizes())])
    }
    const rest = started + second * 1000 - performance.now()
    if (rest > 0) await new Promise(resolve => setTimeout(resolve, rest))
  }
  console.log(`megabytes of the tables with indexes, at ${WRITES_A_SECOND} writes a second:`)
  console.log(columns(grown, [0]).join('\n'))
  const share = busy / SECONDS
  console.log(`deleting takes ${(share * 100).toFixed(0)} % of the time of one connection`)
  if (share > 0.5) reportMissed('one host cannot delete what 2,000 writes a second leave in half of its time')
  for (const table of TABLES) {
    const { rows } = await pool.query(
      `select count(*)::int as n from ${table} where ${table === 'gw_idempotency' ? 'until' : 'at'} < $1`,
      [added],
    )
    if (rows[0].n > 0) throw new Error(`${table} has ${rows[0].n} rows that are due`)
  }
  if (host.failures.length > 0) throw host.failures[0]
} finally {
  await pool.end()
  await host.close()
  await stores.drop()
}
