import { type SqlClient } from '@gatewright/kernel/sql'
import type { IssuerStorage } from './port.ts'
import { sqlStorage, type SqlSigningOptions, type SqlCredentialsOptions } from './sql.ts'
import type { SqlCredentialsWithSigning } from './signing-port.ts'

export { migrateCredentials } from './migrate.ts'
export type { SqlCredentialsOptions, SqlSigningOptions } from './sql.ts'

/** Keys, sessions, audit rows and, with an encryption key, signing keys in the embedded SQLite of one host process. */
export function sqliteCredentials(db: SqlClient, options: SqlSigningOptions): SqlCredentialsWithSigning
export function sqliteCredentials(db: SqlClient, options?: SqlCredentialsOptions): IssuerStorage
export function sqliteCredentials(db: SqlClient, options?: SqlCredentialsOptions): IssuerStorage {
  return sqlStorage(db, 'sqlite', options)
}
