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

/** Keys, sessions and, with an encryption key, signing keys in the embedded SQLite of one host process. */
export function sqliteStorage(db: SqlClient, options: SqlSigningOptions): SqlStorageWithSigning
export function sqliteStorage(db: SqlClient, options?: SqlStorageOptions): SqlStorage
export function sqliteStorage(db: SqlClient, options?: SqlStorageOptions): SqlStorage {
  return sqlStorage(db, 'sqlite', options)
}

/** Creates or updates the tables. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/sqlite.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'sqlite', { namespace: 'session-issuer', versions: readVersions(ddl) }, prefix)
}
