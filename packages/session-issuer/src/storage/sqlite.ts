import { readFileSync } from 'node:fs'
import { migrate as migrateRoom, readVersions, type SqlClient } from '@gatewright/kernel/sql'
import { sqlKeyStorage, type SqlStorageOptions } from './sql-keys.ts'
import { sqlSessionStorage } from './sql-sessions.ts'
import type { KeyStorage, SessionStorage } from './port.ts'

export { sqlSigningKeyStorage as sqliteSigningKeyStorage } from './sql-signing.ts'
export type { SqlStorageOptions } from './sql-keys.ts'
export type { SqlSigningKeyOptions } from './sql-signing.ts'

/** API keys in the embedded SQLite of one host process. */
export function sqliteKeyStorage(db: SqlClient, options?: SqlStorageOptions): KeyStorage {
  return sqlKeyStorage(db, 'sqlite', options)
}

/** Sessions in the embedded SQLite of one host process. */
export function sqliteSessionStorage(db: SqlClient, options?: SqlStorageOptions): SessionStorage {
  return sqlSessionStorage(db, 'sqlite', options)
}

/** Creates or updates the tables. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/sqlite.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'sqlite', { room: 'session-issuer', versions: readVersions(ddl) }, prefix)
}
