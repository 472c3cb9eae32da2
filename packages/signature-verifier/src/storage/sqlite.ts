import { readFileSync } from 'node:fs'
import { migrate as migrateRoom, readVersions, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import type { ChallengeStorage } from './port.ts'
import { sqlStorage, type SqlStorageOptions } from './sql.ts'

export type { SqlStorageOptions } from './sql.ts'

/**
 * Replay protection in the embedded SQLite database of one host process. Throws a `TypeError` for an unknown option.
 */
export function sqliteStorage(db: SqlQueries, options: SqlStorageOptions = {}): ChallengeStorage {
  return sqlStorage('sqliteStorage', db, options)
}

/** Creates or updates the tables. It can be repeated and called from several hosts at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/sqlite.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'sqlite', { namespace: 'nonces', versions: readVersions(ddl) }, prefix)
}
