import { type SqlQueries } from '@gatewright/kernel/sql'
import type { ChallengeStorage } from './port.ts'
import { sqlStorage, type SqlNoncesOptions } from './sql.ts'

export { migrateNonces } from './migrate.ts'
export type { SqlNoncesOptions } from './sql.ts'

/**
 * Replay protection in Postgres: one statement per method, at any isolation level from READ COMMITTED up. Throws a
 * `TypeError` for an unknown option.
 */
export function postgresNonces(db: SqlQueries, options: SqlNoncesOptions = {}): ChallengeStorage {
  return sqlStorage('postgresNonces', db, options)
}
