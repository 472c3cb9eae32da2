import { readFileSync } from 'node:fs'
import { migrate as migrateRoom, readVersions, type SqlClient } from '@gatewright/kernel/sql'
import {
  sqlStorage,
  type SqlSigningOptions,
  type SqlStorage,
  type SqlStorageOptions,
  type SqlStorageWithSigning,
} from './sql.ts'

export type { SqlSigningOptions, SqlStorage, SqlStorageOptions, SqlStorageWithSigning } from './sql.ts'

/** Keys, sessions and, with an encryption key, signing keys in Postgres, at READ COMMITTED. */
export function postgresStorage(db: SqlClient, options: SqlSigningOptions): SqlStorageWithSigning
export function postgresStorage(db: SqlClient, options?: SqlStorageOptions): SqlStorage
export function postgresStorage(db: SqlClient, options?: SqlStorageOptions): SqlStorage {
  return sqlStorage(db, 'postgres', options)
}

/** Creates or updates the tables. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/postgres.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'postgres', { namespace: 'session-issuer', versions: readVersions(ddl) }, prefix)
}
