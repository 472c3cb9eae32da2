import { fromPgPool, migrate } from '@gatewright/kernel/sql'
import pg from 'pg'
import t from 'tap'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { startTestHost } from '../../harness/host.ts'
import { uniqueName } from '../../harness/stores.ts'

const URL_OF_RUN = process.env['TEST_POSTGRES_URL'] as string

/** Creates a database with an encoding, and returns its URL. */
async function createDatabase(encoding: string): Promise<string> {
  const admin = new pg.Client({ connectionString: URL_OF_RUN })
  await admin.connect()
  const name = uniqueName()
  await admin.query(
    `create database ${name} encoding '${encoding}' template template0 lc_collate 'C' lc_ctype 'C'`,
  )
  t.teardown(async () => {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })
  const url = new URL(URL_OF_RUN)
  url.pathname = `/${name}`
  return url.href
}

const reasonOf = (encoding: string) => ({
  code: 'ERR_STORE_UNAVAILABLE',
  cause: {
    message: new RegExp(`database t\\w+ has the encoding ${encoding}: create it with encoding 'UTF8'`),
  },
})

for (const encoding of ['LATIN1', 'SQL_ASCII', 'EUC_JP'])
  t.test(`migrate rejects a database whose encoding is ${encoding}`, async t => {
    const pool = new pg.Pool({ connectionString: await createDatabase(encoding), max: 1 })
    t.teardown(() => pool.end())
    pool.on('error', () => {})
    const tables = {
      namespace: 'notes',
      ddl: '-- version 1\ncreate table {prefix}notes (id {id} primary key)',
    }
    await t.rejects(migrate(fromPgPool(pool), tables), reasonOf(encoding))
    const { rows } = await pool.query("select 1 from pg_class where relname like 'gw_%'")
    t.same(rows, [], 'nothing was created')
  })

t.test('a host says at start that the encoding of its database is wrong', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  for (const migrates of ['on', 'off'])
    await t.rejects(
      startTestHost({ ...env, DATABASE_URL: await createDatabase('LATIN1'), MIGRATE: migrates }),
      reasonOf('LATIN1'),
    )
})
