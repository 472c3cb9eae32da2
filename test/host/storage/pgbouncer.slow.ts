import { randomBytes } from 'node:crypto'
import { migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import { fromPgPool, type SqlClient } from '@gatewright/kernel/sql'
import { sqlClientContract } from '@gatewright/kernel/testing'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { spendStorageContract } from '@gatewright/scope-guard/testing'
import { migrateNonces, postgresNonces } from '@gatewright/signature-verifier/postgres'
import { nonceStorageContract } from '@gatewright/signature-verifier/testing'
import pg from 'pg'
import t from 'tap'
import { gatewright } from '../../harness/gatewright.ts'
import { bearer, startTestHost } from '../../harness/host.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { newMoneyUser } from '../../reference-host/harness/money.ts'
import { startPgBouncer } from './pgbouncer.ts'
import { runner } from '../../harness/runner.ts'
import { uniqueName } from '../../harness/stores.ts'

const admin = new pg.Client({ connectionString: process.env['TEST_POSTGRES_URL'] })
await admin.connect()

/** Makes a database of its own, with a role that owns it, and the URLs that lead to it. */
async function newDatabase(): Promise<{
  readonly role: string
  readonly direct: string
  drop(): Promise<void>
}> {
  const role = uniqueName()
  await admin.query(`create role ${role} login`)
  await admin.query(`create database ${role} owner ${role}`)
  const url = new URL(process.env['TEST_POSTGRES_URL'] as string)
  url.username = role
  url.password = ''
  url.pathname = `/${role}`
  return {
    role,
    direct: url.href,
    async drop() {
      await admin.query(`drop database ${role} with (force)`)
      await admin.query(`drop role ${role}`)
    },
  }
}

const { direct, drop } = await newDatabase()
const pooler = await startPgBouncer(direct)
t.teardown(async () => {
  await pooler.stop()
  await drop()
  await admin.end()
})

await t.test('hosts serve through PgBouncer in transaction mode', async t => {
  const { role, direct, drop } = await newDatabase()
  const first = await startPgBouncer(direct)
  t.teardown(async () => {
    await first.stop()
    await drop()
  })
  const { env: of, drop: dropSchema } = await hostStoresEnv('postgres')
  await dropSchema()
  const env: Record<string, string> = { ...of, DATABASE_URL: first.url }
  await t.rejects(startTestHost(env), { cause: { message: /unsupported startup parameter/ } })
  const unlimited = { ...env, DATABASE_PREPARE: 'off', DATABASE_LISTEN_URL: direct }
  await t.rejects(startTestHost(unlimited), {
    cause: {
      message: `lock_timeout, statement_timeout, idle_in_transaction_session_timeout of its role are 0, so that a host which hangs could block all others. Run: alter role ${role} set lock_timeout = 5000; alter role ${role} set statement_timeout = 20000; alter role ${role} set idle_in_transaction_session_timeout = 15000`,
    },
  })
  for (const [name, ms] of Object.entries({
    lock_timeout: 5000,
    statement_timeout: 20_000,
    idle_in_transaction_session_timeout: 15_000,
  }))
    await admin.query(`alter role ${role} set ${name} = ${ms}`)
  // The sessions of the first one have the settings of their start.
  const pooler = await startPgBouncer(direct)
  t.teardown(pooler.stop)
  const pooled = { ...unlimited, DATABASE_URL: pooler.url }

  const hosts = [await startTestHost(pooled), await startTestHost(pooled)] as const
  t.teardown(() => Promise.all(hosts.map(host => host.close())))
  const user = await newMoneyUser(hosts[0].send)
  const other = await newMoneyUser(hosts[1].send)
  const to = { walletAddress: other.address }
  t.equal((await user.fund(1000)).status, 200)
  const paid = await Promise.all(
    Array.from({ length: 100 }, () => user.write('/payments', { to, amountCents: 1 })),
  )
  t.same(new Set(paid.map(({ status }) => status)), new Set([200]))
  t.equal(await other.balance(), 100)
  for (const host of hosts) t.equal((await host.send('/readyz')).status, 200)

  const { rows: names } = await admin.query<{ name: string }>(
    "select application_name as name from pg_stat_activity where datname = $1 and application_name like 'gatewright %'",
    [role],
  )
  t.ok(names.length > 0, 'connections say whose they are')
  t.ok(names.every(({ name }) => name.endsWith(` ${process.pid}`)))

  const { body } = await hosts[0].send('/user/v1/keys', { headers: bearer(user.token) })
  const [{ id }] = body['keys'] as [{ id: string }]
  await hosts[0].send(`/user/v1/keys/${id}`, { method: 'DELETE', headers: bearer(user.token) })
  const revokedAt = performance.now()
  while ((await hosts[1].send('/user/v1/keys', { headers: bearer(user.token) })).status !== 401)
    if (performance.now() - revokedAt > 1000) throw new Error('still accepted after a second')
  t.match(await gatewright(['ledger', 'check'], pooled), { code: 0 })
  t.same(
    hosts.flatMap(host => host.failures),
    [],
  )
})

/** Opens clients of the packages through the pooler, on tables of their own. */
async function openPooled(
  migrate: (db: SqlClient, prefix: string) => Promise<void>,
): Promise<{ readonly dbs: readonly SqlClient[]; readonly prefix: string; close(): Promise<void> }> {
  const prefix = `p${randomBytes(6).toString('hex')}_`
  const pools = Array.from({ length: 4 }, () => new pg.Pool({ connectionString: pooler.url, max: 1 }))
  for (const pool of pools) pool.on('error', () => {})
  const dbs = pools.map(pool => fromPgPool(pool))
  await migrate(dbs[0] as SqlClient, prefix)
  return {
    dbs,
    prefix,
    close: async () => {
      await Promise.all(pools.map(pool => pool.end()))
    },
  }
}

sqlClientContract(runner, 'PgBouncer', async () => {
  const pools = [1, 2].map(() => new pg.Pool({ connectionString: pooler.url, max: 2 }))
  for (const pool of pools) pool.on('error', () => {})
  return {
    connections: pools.map(pool => fromPgPool(pool)),
    close: async () => {
      await Promise.all(pools.map(pool => pool.end()))
    },
  }
})
nonceStorageContract(runner, 'PgBouncer', async () => {
  const { dbs, prefix, close } = await openPooled(migrateNonces)
  return { connections: dbs.map(db => postgresNonces(db, { prefix })), close }
})
spendStorageContract(runner, 'PgBouncer', async () => {
  const { dbs, prefix, close } = await openPooled(migrateSpends)
  return { connections: dbs.map(db => postgresSpends(db, { prefix })), close }
})
idempotencyStorageContract(runner, 'PgBouncer', async () => {
  const { dbs, prefix, close } = await openPooled(migrateIdempotency)
  return { connections: dbs.map(db => postgresIdempotency(db, { prefix })), close }
})
