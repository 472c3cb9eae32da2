import { type SqlQueries } from '@gatewright/kernel/sql'
import type { ChallengeStorage } from './port.ts'
import { sqlStorage, type SqlNoncesOptions } from './sql.ts'

export { migrateNonces } from './migrate.ts'
export type { SqlNoncesOptions } from './sql.ts'

/**
 * Replay protection in the embedded SQLite database of one host process. Throws a `TypeError` for an unknown option.
 */
export function sqliteNonces(db: SqlQueries, options: SqlNoncesOptions = {}): ChallengeStorage {
  return sqlStorage('sqliteNonces', db, options)
}
