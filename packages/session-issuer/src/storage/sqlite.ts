import { readFileSync } from 'node:fs'
import { migrate as migrateTables, readVersions, type SqlClient } from '@gatewright/kernel/sql'
import type { IssuerStorage } from './port.ts'
import {
  sqlStorage,
  type SqlSigningOptions,
  type SqlCredentialsOptions,
  type SqlCredentialsWithSigning,
} from './sql.ts'

export type {
  SqlSigningOptions,
  SqlCredentialsOptions,
  SqlCredentialsWithSigning,
} from './sql.ts'

/** Keys, sessions, audit rows and, with an encryption key, signing keys in the embedded SQLite of one host process. */
export function sqliteCredentials(db: SqlClient, options: SqlSigningOptions): SqlCredentialsWithSigning
export function sqliteCredentials(db: SqlClient, options?: SqlCredentialsOptions): IssuerStorage
export function sqliteCredentials(db: SqlClient, options?: SqlCredentialsOptions): IssuerStorage {
  return sqlStorage(db, 'sqlite', options)
}

/** Creates or updates the tables. It can be repeated and called from several hosts at once. */
export async function migrateCredentials(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/tables.sql', import.meta.url), 'utf8')
  await migrateTables(
    db,
    'sqlite',
    { namespace: 'session-issuer', versions: readVersions(ddl, 'sqlite') },
    prefix,
  )
}
