import { readFileSync } from 'node:fs'
import { migrate as migrateRoom, readVersions, type SqlClient } from '@gatewright/kernel/sql'
import type { IssuerStorage } from './port.ts'
import {
  sqlStorage,
  type SqlSigningOptions,
  type SqlStorageOptions,
  type SqlStorageWithSigning,
} from './sql.ts'

export type { SqlSigningOptions, SqlStorageOptions, SqlStorageWithSigning } from './sql.ts'

/** Keys, sessions, audit rows and, with an encryption key, signing keys in the embedded SQLite of one host process. */
export function sqliteStorage(db: SqlClient, options: SqlSigningOptions): SqlStorageWithSigning
export function sqliteStorage(db: SqlClient, options?: SqlStorageOptions): IssuerStorage
export function sqliteStorage(db: SqlClient, options?: SqlStorageOptions): IssuerStorage {
  return sqlStorage(db, 'sqlite', options)
}

/** Creates or updates the tables. It can be repeated and called from several hosts at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/sqlite.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'sqlite', { namespace: 'session-issuer', versions: readVersions(ddl) }, prefix)
}
