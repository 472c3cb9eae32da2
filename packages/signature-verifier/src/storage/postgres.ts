import { readFileSync } from 'node:fs'
import { migrate as migrateRoom, readVersions, type SqlClient } from '@gatewright/kernel/sql'

/** Replay memory in Postgres. One statement per verb, any isolation level from READ COMMITTED up. */
export { sqlStorage as postgresStorage } from './statements.ts'
export type { SqlStorageOptions } from './statements.ts'

/** Creates or updates the table. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/postgres.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'postgres', { room: 'nonces', versions: readVersions(ddl) }, prefix)
}
