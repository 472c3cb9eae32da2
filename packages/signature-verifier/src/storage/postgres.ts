import { readFileSync } from 'node:fs'
import {
  migrate as migrateTables,
  readVersions,
  type SqlClient,
  type SqlQueries,
} from '@gatewright/kernel/sql'
import type { ChallengeStorage } from './port.ts'
import { sqlStorage, type SqlNoncesOptions } from './sql.ts'

export type { SqlNoncesOptions } from './sql.ts'

/**
 * Replay protection in Postgres: one statement per verb, at any isolation level from READ COMMITTED up. Throws a
 * `TypeError` for an unknown option.
 */
export function postgresNonces(db: SqlQueries, options: SqlNoncesOptions = {}): ChallengeStorage {
  return sqlStorage('postgresNonces', db, options)
}

/** Creates or updates the tables. It can be repeated and called from several hosts at once. */
export async function migrateNonces(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/tables.sql', import.meta.url), 'utf8')
  await migrateTables(
    db,
    'postgres',
    { namespace: 'nonces', versions: readVersions(ddl, 'postgres') },
    prefix,
  )
}
