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
 * Replay protection in the embedded SQLite database of one host process. Throws a `TypeError` for an unknown option.
 */
export function sqliteNonces(db: SqlQueries, options: SqlNoncesOptions = {}): ChallengeStorage {
  return sqlStorage('sqliteNonces', db, options)
}

/** Creates or updates the tables. It can be repeated and called from several hosts at once. */
export async function migrateNonces(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/tables.sql', import.meta.url), 'utf8')
  await migrateTables(db, 'sqlite', { namespace: 'nonces', versions: readVersions(ddl, 'sqlite') }, prefix)
}
