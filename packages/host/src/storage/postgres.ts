import { hostname } from 'node:os'
import { postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import { Fault } from '@gatewright/kernel'
import { fromPgPool, rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import type { RetryReason } from '@gatewright/kernel/internal/sql'
import { postgresAliasUsage } from '@gatewright/legacy-alias-router/postgres'
import type { ApprovalStorage } from '@gatewright/scope-guard'
import { postgresApprovals, postgresSpends, sqlRevocationFeed } from '@gatewright/scope-guard/postgres'
import { postgresCredentials } from '@gatewright/session-issuer/postgres'
import { postgresNonces } from '@gatewright/signature-verifier/postgres'
import pg from 'pg'
import type { Backend, DatabaseOptions } from './backend.ts'
import { inTime } from './in-time.ts'
import { withdrawApprovals } from '../records/approvals.ts'
import { migrateAll } from './migrate-all.ts'
import type { Secrets } from './secrets.ts'

/** Connections per host. More did not help a Postgres with two cores. */
const POOL_SIZE = 10
/** A connection is replaced at this age, so that all of them follow a database that moved to another machine behind its name. */
const CONNECTION_SECONDS = 600
/** How long a connection may take to close, in ms. */
const CLOSE_MS = 500
/**
 * A host that freezes in a transaction loses its locks and its connection, and a host that waits for its locks gets an
 * error. In ms.
 */
const LIMITS_MS = {
  lock_timeout: 5000,
  statement_timeout: 20_000,
  idle_in_transaction_session_timeout: 15_000,
}
/**
 * By default Citus opens a connection for each shard that a statement reads and keeps one of them, so each poll of a table costs 32 new
 * connections. And by default it keeps the limits that a transaction sets to the coordinator. Has no effect on Postgres.
 */
const CITUS_SETTINGS = `select set_config('citus.max_adaptive_executor_pool_size', '1', false),
  set_config('citus.propagate_set_commands', 'local', false) from pg_extension where extname = 'citus'`
/** Says in `pg_stat_activity` whose connection it is. `application_name` of the URL replaces it; Postgres keeps 63 bytes. */
const APPLICATION_NAME = `gatewright ${hostname()} ${process.pid}`
/** How often a transaction runs again that Postgres has rolled back because of simultaneous ones. */
const RETRIES = 10

/**
 * Connects to Postgres. `queryMs` limits each statement at the
 * client's side, but no migration; default none.
 */
export function postgresBackend(
  url: string,
  secrets: Secrets,
  { migrateModules, prepare = true, listenUrl, queryMs }: DatabaseOptions,
): Backend {
  const options: pg.PoolConfig = {
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: 5000,
    maxLifetimeSeconds: CONNECTION_SECONDS,
    // A database whose machine has failed does not close its connections.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: APPLICATION_NAME,
    ...(prepare ? LIMITS_MS : {}),
  }
  const pool = openPool({ ...options, query_timeout: queryMs }, prepare ? CITUS_SETTINGS : undefined)
  const retries: Record<RetryReason, number> = { serialization: 0, deadlock: 0, plan: 0 }
  const onRetry = (reason: RetryReason): void => {
    retries[reason] += 1
  }
  const shared = { retries: RETRIES, onRetry }
  const sql = fromPgPool(pool, { ...shared, prepare })
  // A pooler in transaction mode passes no notifications on.
  const listenAt = listenUrl ?? (prepare ? url : undefined)
  const approvals = (tx: SqlQueries): ApprovalStorage => postgresApprovals(tx)
  return {
    sql,
    nonces: postgresNonces(sql),
    issuer: postgresCredentials(sql, {
      encryptionKey: secrets.signingKeyEncryptionKey,
      withinCommit: withdrawApprovals(approvals),
    }),
    feed: sqlRevocationFeed(
      sql,
      listenAt === undefined ? {} : { subscribe: (channel, listener) => listen(listenAt, channel, listener) },
    ),
    idempotency: tx => postgresTransactionalIdempotency(tx),
    spend: tx => postgresSpends(tx),
    approvals,
    aliasUsage: postgresAliasUsage(sql),
    checks: {},
    migrate: plan =>
      onOwnPool({ ...options, max: 1 }, shared, async db => {
        await assertIsolation(db)
        await assertLimits(db)
        await migrateAll(db, migrateModules, plan)
      }),
    unlimited: work =>
      onOwnPool({ ...options, max: 1 }, shared, async db => {
        const limits = Object.keys(LIMITS_MS).map(name => `set_config('${name}', '0', false)`)
        await rows(db, `select ${limits.join(', ')}`)
        await work(db)
      }),
    retries,
    connections: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => endPool(pool),
  }
}

/** The connections of each pool that are still open. */
const connectionsOf = new WeakMap<pg.Pool, Set<pg.ClientBase>>()

/** Opens a pool, each connection of which runs `first` before anything else. */
function openPool(options: pg.PoolConfig, first?: string): pg.Pool {
  const connections = new Set<pg.ClientBase>()
  const onConnect = async (client: pg.ClientBase): Promise<void> => {
    connections.add(client)
    client.once('end', () => connections.delete(client))
    if (first !== undefined) await client.query(first)
  }
  // oxlint-disable-next-line typescript/no-misused-promises -- pg waits for the promise, which its types do not say.
  const pool = new pg.Pool({ ...options, onConnect })
  // The pool replaces an idle connection that breaks. Without a listener, its error would end the process.
  pool.on('error', () => {})
  connectionsOf.set(pool, connections)
  return pool
}

/** Ends a pool. Connections whose server does not reply, or whose statement still runs, are cut after `CLOSE_MS`. */
async function endPool(pool: pg.Pool): Promise<void> {
  const connections = connectionsOf.get(pool) ?? new Set()
  await endInTime(pool.end(), connections)
}

async function endInTime(end: Promise<unknown>, connections: ReadonlySet<pg.ClientBase>): Promise<void> {
  const closed = [...connections].map(client => new Promise(resolve => client.once('end', resolve)))
  await inTime(Promise.all([end, ...closed]), CLOSE_MS, () => new Error('late')).catch(() => {
    for (const client of connections) socketOf(client).destroy()
  })
}

/** `pg` declares no way to close a connection without a farewell to its server, which it waits for. */
function socketOf(client: pg.ClientBase): { destroy(): void } {
  return (client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }).connection
    .stream
}

/** Runs migrations on a pool of its own, because they cannot lift the `query_timeout` of a pool. */
async function onOwnPool(
  options: pg.PoolConfig,
  sqlOptions: Parameters<typeof fromPgPool>[1],
  work: (db: SqlClient) => Promise<void>,
): Promise<void> {
  const pool = openPool(options)
  try {
    await work(fromPgPool(pool, sqlOptions))
  } finally {
    await endPool(pool)
  }
}

/**
 * Throws unless the isolation level is READ COMMITTED or SERIALIZABLE. Balances are read after a lock that other
 * transactions held. In stricter levels the snapshot is older than the lock, so that it would miss what they spent: SERIALIZABLE rolls
 * such a transaction back, and it runs again.
 */
async function assertIsolation(sql: SqlClient): Promise<void> {
  const [row] = await rows(sql, 'show default_transaction_isolation')
  const level = row?.['default_transaction_isolation']
  if (level === 'read committed' || level === 'serializable') return
  const cause = new Error(
    `default_transaction_isolation is ${String(level)}: set it to read committed for this role or database, or balances could go wrong`,
  )
  throw new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', { cause })
}

/**
 * Throws unless the limits are set. A pooler drops those of a connection, and `DATABASE_PREPARE=off` sends none: then the role must have them.
 */
async function assertLimits(sql: SqlClient): Promise<void> {
  const names = Object.keys(LIMITS_MS)
  const settings = names.map(name => `current_setting('${name}') as ${name}`)
  const [row] = await rows(sql, `select current_user as role, ${settings.join(', ')}`)
  const missing = Object.entries(LIMITS_MS).filter(([name]) => String(row?.[name]) === '0')
  if (missing.length === 0) return
  const role = String(row?.['role'])
  const remedy = missing.map(([name, ms]) => `alter role ${role} set ${name} = ${ms}`).join('; ')
  const cause = new Error(
    `${missing.map(([name]) => name).join(', ')} of its role are 0, so that a host which hangs could block all others. Run: ${remedy}`,
  )
  throw new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', { cause })
}

/** Listens on a separate connection. If it breaks, only notifications are lost, since the feed is also polled. */
async function listen(url: string, channel: string, listener: () => void): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url, application_name: APPLICATION_NAME })
  client.on('error', () => {})
  client.on('notification', listener)
  await client.connect()
  await client.query(`listen ${channel}`)
  return () => endInTime(client.end(), new Set([client]))
}
