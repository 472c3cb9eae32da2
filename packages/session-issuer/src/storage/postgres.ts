import { type SqlClient } from '@gatewright/kernel/sql'
import type { IssuerStorage } from './port.ts'
import { sqlStorage, type SqlSigningOptions, type SqlCredentialsOptions } from './sql.ts'
import type { SqlCredentialsWithSigning } from './signing-port.ts'

export { migrateCredentials } from './migrate.ts'
export type { SqlCredentialsOptions, SqlSigningOptions } from './sql.ts'

/** Keys, sessions, audit rows and, with an encryption key, signing keys in Postgres, at READ COMMITTED. */
export function postgresCredentials(db: SqlClient, options: SqlSigningOptions): SqlCredentialsWithSigning
export function postgresCredentials(db: SqlClient, options?: SqlCredentialsOptions): IssuerStorage
export function postgresCredentials(db: SqlClient, options?: SqlCredentialsOptions): IssuerStorage {
  return sqlStorage(db, 'postgres', options)
}
