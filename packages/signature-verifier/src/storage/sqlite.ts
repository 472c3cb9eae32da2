import { readFileSync } from 'node:fs'
import { migrate as migrateRoom, readVersions, type SqlClient } from '@gatewright/kernel/sql'

/** Replay memory in the embedded SQLite of one host process. */
export { sqlStorage as sqliteStorage } from './statements.ts'
export type { SqlStorageOptions } from './statements.ts'

/** Creates or updates the table. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/sqlite.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'sqlite', { room: 'nonces', versions: readVersions(ddl) }, prefix)
}
