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

/** Keys, sessions, audit rows and, with an encryption key, signing keys in Postgres, at READ COMMITTED. */
export function postgresStorage(db: SqlClient, options: SqlSigningOptions): SqlStorageWithSigning
export function postgresStorage(db: SqlClient, options?: SqlStorageOptions): IssuerStorage
export function postgresStorage(db: SqlClient, options?: SqlStorageOptions): IssuerStorage {
  return sqlStorage(db, 'postgres', options)
}

/** Creates or updates the tables. It can be repeated and called from several hosts at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/postgres.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'postgres', { namespace: 'session-issuer', versions: readVersions(ddl) }, prefix)
}
