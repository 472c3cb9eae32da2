import { postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import { Fault } from '@gatewright/kernel'
import { fromPgPool, rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { postgresAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import { postgresSpends, sqlRevocationFeed } from '@gatewright/scope-guard/postgres'
import { postgresCredentials } from '@gatewright/session-issuer/postgres'
import { postgresNonces } from '@gatewright/signature-verifier/postgres'
import pg from 'pg'
import type { Backend, DatabaseOptions } from './backend.ts'
import { migrateAll } from './migrate-all.ts'
import type { Secrets } from './secrets.ts'

/** Connections per host. More did not help a Postgres with two cores. */
const POOL_SIZE = 10
/** A host whose clock differs more from that of its database is not ready. */
const MAX_SKEW_MS = 2000

/**
 * Connects to Postgres. `queryMs` limits each statement at the
 * client's side, but no migration; default none.
 */
export function postgresBackend(
  url: string,
  secrets: Secrets,
  { migrateModules, partitions = 1, queryMs }: DatabaseOptions,
): Backend {
  const options: pg.PoolConfig = {
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: 5000,
    // A database whose machine has failed does not close its connections.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // A host that freezes in a transaction loses its locks and its connection, and a host that waits for its locks gets an
    // error.
    lock_timeout: 5000,
    statement_timeout: 20_000,
    idle_in_transaction_session_timeout: 15_000,
  }
  const pool = openPool({ ...options, query_timeout: queryMs })
  const sql = fromPgPool(pool, { prepare: true })
  return {
    sql,
    nonces: postgresNonces(sql),
    issuer: postgresCredentials(sql, { encryptionKey: secrets.signingKeyEncryptionKey }),
    feed: sqlRevocationFeed(sql, { subscribe: (channel, listener) => listen(url, channel, listener) }),
    idempotency: tx => postgresTransactionalIdempotency(tx),
    spend: tx => postgresSpends(tx),
    aliasUsage: postgresAliasUsage(sql),
    checks: { database: () => assertClock(sql) },
    migrate: () => migrateOnOwnPool({ ...options, max: 1 }, partitions, migrateModules),
    close: () => pool.end(),
  }
}

function openPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options)
  // The pool replaces an idle connection that breaks. Without a listener, its error would end the process.
  pool.on('error', () => {})
  return pool
}

/** Migrates on a pool of its own, because a migration cannot lift the `query_timeout` of a pool. */
async function migrateOnOwnPool(
  options: pg.PoolConfig,
  partitions: number,
  migrateModules: DatabaseOptions['migrateModules'],
): Promise<void> {
  const pool = openPool(options)
  const sql = fromPgPool(pool, { partitions })
  try {
    await assertIsolation(sql)
    await migrateAll(sql, migrateModules)
  } finally {
    await pool.end()
  }
}

/**
 * Throws unless the isolation level is READ COMMITTED. Balances are read after a lock that other transactions held. In stricter
 * levels the snapshot is older than the lock, so that it would miss what they spent.
 */
async function assertIsolation(sql: SqlClient): Promise<void> {
  const [row] = await rows(sql, 'show default_transaction_isolation')
  const level = row?.['default_transaction_isolation']
  if (level === 'read committed') return
  const cause = new Error(
    `default_transaction_isolation is ${String(level)}: set it to read committed for this role or database, or balances could go wrong`,
  )
  throw new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', { cause })
}

async function assertClock(sql: SqlClient): Promise<void> {
  const text = 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now'
  const [row] = await rows(sql, text)
  const skewMs = Math.abs(toInteger(row?.['now']) - Date.now())
  if (skewMs > MAX_SKEW_MS) throw new Error(`this host's clock is ${skewMs} ms off its database's`)
}

/** Listens on a separate connection. If it breaks, only notifications are lost, since the feed is also polled. */
async function listen(url: string, channel: string, listener: () => void): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  client.on('notification', listener)
  await client.connect()
  await client.query(`listen ${channel}`)
  return () => client.end()
}
