import { migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { fromPgPool, migrate, rows, type SqlClient, type SqlValue } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { migrateSpends, postgresApprovals, postgresSpends } from '@gatewright/scope-guard/postgres'
import RateLimiterPostgres from 'rate-limiter-flexible/lib/RateLimiterPostgres.js'
import { prefixOf, type SqlStoreOptions } from './sql.ts'
import type { Store } from '../index.ts'
import { collector, nameOfGiven } from './store.ts'
export type { SqlStoreOptions } from './sql.ts'

/** How often what conflicts with simultaneous calls runs again. */
const RETRIES = 10

/** The table as rate-limiter-flexible expects it. It deletes expired rows itself, every five minutes. */
const RATE_LIMITS = `-- version 1
-- A key may be an address, a key, or a session, and is the whole row's identity.
create table {prefix}rate_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
) {reference};
`

/**
 * Keeps everything in Postgres, with your pool of `pg`. It is never opened, closed or configured here: give it an `error` listener
 * and timeouts. Call `migrate()` before the server listens.
 */
export function postgresStore(
  pool: Parameters<typeof fromPgPool>[0],
  options: SqlStoreOptions = {},
): Required<Store> {
  const prefix = prefixOf('postgresStore', options)
  if (typeof (pool as Partial<typeof pool> | null)?.connect !== 'function')
    throw new TypeError(`postgresStore: pool must be a Pool of pg, got ${nameOfGiven(pool)}`)
  // A Client has the functions of a Pool, and its transactions would share one connection.
  if ('connectionParameters' in pool)
    throw new TypeError(
      'postgresStore: pool must be a Pool of pg, got a Client, whose one connection all requests would share: write new pg.Pool({ ... })',
    )
  const db = fromPgPool(pool, { retries: RETRIES })
  const ports = {
    idempotency: postgresIdempotency(db, { prefix }),
    spends: postgresSpends(db, { prefix }),
    approvals: postgresApprovals(db, { prefix }),
  }
  return {
    ...ports,
    onlyProcess: false,
    limits: settings =>
      new RateLimiterPostgres({
        ...settings,
        storeClient: limiterClient(db),
        storeType: 'pool',
        tableName: `${prefix}rate_limits`,
        tableCreated: true,
      }),
    async migrate() {
      await migrateIdempotency(db, prefix)
      await migrateSpends(db, prefix)
      await migrate(db, { namespace: 'rate_limits', ddl: RATE_LIMITS }, prefix)
    },
    collect: collector(ports),
  }
}

/**
 * The client of a limiter: its statements are sent as all others are, so they are not prepared, which a pooler may not support, and run again when
 * simultaneous ones made the database roll them back. The library calculates with the columns as they come, but a process may have set
 * parsers that return `bigint`: so it gets numbers.
 */
function limiterClient(db: SqlClient) {
  return {
    async query({ text, values }: { readonly text: string; readonly values: readonly SqlValue[] }) {
      const found = await rows(db, text, values)
      return {
        rows: found.map(({ points, expire }) => ({ points: toInteger(points), expire: toInteger(expire) })),
      }
    },
  }
}
