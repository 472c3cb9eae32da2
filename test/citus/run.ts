// npm run test:citus URL: runs suites of this repository on the coordinator of a Citus for tests, and then faults of its workers. URL is a
// database that has the extension and nothing else, of a role that may create schemas. Further arguments: test files, in place of all.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/** Contracts, races, ledger, sessions, feed, payments, the money model with kills, and what only Citus shows. */
const SUITES = [
  'test/idempotency-store/storage/postgres.test.ts',
  'test/idempotency-store/transactional.postgres.test.ts',
  'test/idempotency-store/lost-runs.test.ts',
  'test/scope-guard/storage/postgres.test.ts',
  'test/scope-guard/storage/feed.test.ts',
  'test/scope-guard/spend/race.slow.ts',
  'test/session-issuer/storage/postgres.test.ts',
  'test/session-issuer/storage/atomic.test.ts',
  'test/session-issuer/keys/races.test.ts',
  'test/legacy-alias-router/storage/postgres.test.ts',
  'test/host/ledger/ledger.test.ts',
  'test/host/ledger/money.test.ts',
  'test/host/ledger/transactions.test.ts',
  'test/host/ledger/check.test.ts',
  'test/host/records/jobs.test.ts',
  'test/host/records/events.test.ts',
  'test/reference-host/modules/payments/payments.test.ts',
  'test/reference-host/modules/cards/authorizations.test.ts',
  'test/reference-host/modules/withdrawals/withdrawals.test.ts',
  'test/reference-host/collect-garbage.test.ts',
  'test/citus/distribute.citus.ts',
  'test/reference-host/money-model.slow.ts',
]
/** Run alone, because it stops a worker. */
const FAULTS = ['test/citus/faults.citus.ts']
/** Many schemas are made, and each shard is a table. */
const SHARDS = 4

const [url, ...named] = process.argv.slice(2)
if (url === undefined) throw new Error('give the URL of a database for tests on the coordinator of Citus')
const client = new pg.Client({ connectionString: url })
await client.connect()
const { rows } = await client.query<{ name: string; coordinator: boolean; workers: number }>(
  `select quote_ident(current_database()) as name, citus_is_coordinator() as coordinator,
    (select count(*)::integer from pg_dist_node where isactive and shouldhaveshards) as workers`,
)
const [place] = rows
if (!place?.coordinator || place.workers < 2)
  throw new Error('the database must be the coordinator of a Citus with at least two workers')
await client.query(`alter database ${place.name} set citus.shard_count = ${SHARDS}`)
await client.query(`alter database ${place.name} set citus.max_adaptive_executor_pool_size = 1`)
await client.query(`alter database ${place.name} set citus.propagate_set_commands = 'local'`)
await client.end()

const harness = fileURLToPath(new URL('../harness/test.js', import.meta.url))
for (const files of named.length > 0 ? [named] : [SUITES, FAULTS]) {
  const child = spawn(process.execPath, ['--enable-source-maps', harness, ...files], {
    stdio: 'inherit',
    env: { ...process.env, TEST_POSTGRES_URL: url, TEST_HOST_STORES: 'postgres', TEST_CITUS: 'on' },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) process.exitCode = code ?? 1
}
