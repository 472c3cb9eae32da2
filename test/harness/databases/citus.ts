import { distribute } from '@gatewright/kernel/internal/sql'
import { fromPgPool, migrate } from '@gatewright/kernel/sql'
import pg from 'pg'

/** Set by `npm run test:citus`: the Postgres of the tests is the coordinator of Citus. */
export const ON_CITUS = process.env['TEST_CITUS'] === 'on'

/** Returns a row while a connection waits for a lock. On Citus it waits on a worker. */
export const LOCK_WAITS: string = ON_CITUS
  ? 'select 1 from citus_lock_waits'
  : 'select 1 from pg_locks where not granted'

/**
 * On Citus, prepares a new schema: the table of locks is distributed, so that each migration distributes the tables that it makes. Does nothing
 * on Postgres.
 */
export async function distributeSchema(url: string, schema: string): Promise<void> {
  if (!ON_CITUS) return
  const pool = new pg.Pool({ connectionString: url, max: 1, options: `-c search_path=${schema}` })
  const db = fromPgPool(pool)
  try {
    await migrate(db, { namespace: 'locks', ddl: '-- version 1\nselect 1;\n' })
    await distribute(db, { table: 'gw_lock_rows', column: 'account_id' })
  } finally {
    await pool.end()
  }
}
