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

/** Keys, sessions, audit rows and, with an encryption key, signing keys in Postgres, at READ COMMITTED. */
export function postgresCredentials(db: SqlClient, options: SqlSigningOptions): SqlCredentialsWithSigning
export function postgresCredentials(db: SqlClient, options?: SqlCredentialsOptions): IssuerStorage
export function postgresCredentials(db: SqlClient, options?: SqlCredentialsOptions): IssuerStorage {
  return sqlStorage(db, 'postgres', options)
}

/** Creates or updates the tables. It can be repeated and called from several hosts at once. */
export async function migrateCredentials(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/tables.sql', import.meta.url), 'utf8')
  await migrateTables(
    db,
    'postgres',
    { namespace: 'session-issuer', versions: readVersions(ddl, 'postgres') },
    prefix,
  )
}
