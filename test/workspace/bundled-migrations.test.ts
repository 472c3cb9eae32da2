import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { build } from 'esbuild'
import t from 'tap'
import { temporaryFolder } from '../harness/files.ts'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'

const PROGRAM = `
import { migrateLedger } from './packages/host/dist/ledger/ledger.js'
import { migrateKit } from './packages/host/dist/storage/migrate.js'
import { migrateIdempotency } from '@gatewright/idempotency-store/postgres'
import { fromPgPool } from '@gatewright/kernel/sql'
import { migrateAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { migrateSpends } from '@gatewright/scope-guard/postgres'
import { migrateCredentials } from '@gatewright/session-issuer/postgres'
import { migrateNonces } from '@gatewright/signature-verifier/postgres'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, options: process.env.PG_OPTIONS })
const db = fromPgPool(pool)
for (const migrate of [migrateIdempotency, migrateAliasUsage, migrateSpends, migrateCredentials, migrateNonces, migrateKit, migrateLedger])
  await migrate(db)
await pool.end()
`

t.test('migrates from one bundled file, without the files of the packages', async t => {
  const directory = temporaryFolder(t)
  const outfile = join(directory, 'migrate.mjs')
  await build({
    stdin: { contents: PROGRAM, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Libraries that are CommonJS call require.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
    external: ['pg-native'],
    outfile,
    logLevel: 'silent',
  })
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  t.teardown(() => pool.end())
  execFileSync(process.execPath, [outfile], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: process.env['TEST_POSTGRES_URL'],
      PG_OPTIONS: `-c search_path=${schema}`,
    },
  })
  const { rows } = await pool.query<{ namespace: string }>(
    'select distinct namespace from gw_migrations order by 1',
  )
  t.same(
    rows.map(({ namespace }) => namespace),
    ['alias_usage', 'host', 'idempotency', 'ledger', 'nonces', 'session-issuer', 'spend'],
  )
})
