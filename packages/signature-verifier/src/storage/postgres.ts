import { readFileSync } from 'node:fs'
import { migrate as migrateRoom, readVersions, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import type { ChallengeStorage } from './port.ts'
import { sqlStorage, type SqlStorageOptions } from './statements.ts'

export type { SqlStorageOptions } from './statements.ts'

/**
 * Replay memory in Postgres. One statement per verb, any isolation level from READ COMMITTED up. Throws a `TypeError` for an
 * unknown option.
 */
export function postgresStorage(db: SqlQueries, options: SqlStorageOptions = {}): ChallengeStorage {
  return sqlStorage('postgresStorage', db, options)
}

/** Creates or updates the table. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/postgres.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'postgres', { namespace: 'nonces', versions: readVersions(ddl) }, prefix)
}
