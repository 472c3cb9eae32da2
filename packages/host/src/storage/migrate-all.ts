// A database is migrated alike on SQLite and Postgres: both entries of a package export the same function.
import { migrateIdempotency } from '@gatewright/idempotency-store/sqlite'
import type { PlannedVersion } from '@gatewright/kernel/internal/sql'
import type { SqlClient } from '@gatewright/kernel/sql'
import { migrateAliasUsage } from '@gatewright/legacy-alias-router/sqlite'
import { migrateSpends } from '@gatewright/scope-guard/sqlite'
import { migrateCredentials } from '@gatewright/session-issuer/sqlite'
import { migrateNonces } from '@gatewright/signature-verifier/sqlite'
import { migrateLedger } from '../ledger/ledger.ts'
import type { DatabaseOptions } from './backend.ts'
import { migrateKit } from './migrate.ts'

/** In the order in which they run. */
const MIGRATIONS = [
  migrateNonces,
  migrateCredentials,
  migrateIdempotency,
  migrateSpends,
  migrateAliasUsage,
  migrateKit,
  migrateLedger,
]

/**
 * Migrates all tables of a host: those of the packages, the kit and the ledger, then those of its modules. With `plan` it writes nothing,
 * and calls `plan` with each version that is missing.
 */
export async function migrateAll(
  client: SqlClient,
  migrateModules: DatabaseOptions['migrateModules'],
  plan?: (version: PlannedVersion) => void,
): Promise<void> {
  const db = plan ? { ...client, planMigration: plan } : client
  for (const migrate of MIGRATIONS) await migrate(db)
  await migrateModules(db)
}
