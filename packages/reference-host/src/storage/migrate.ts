import { readFileSync } from 'node:fs'
import { migrate, type SqlClient } from '@gatewright/kernel/sql'

/** Migrates the host's own tables. Can be repeated, and is safe when many hosts start simultaneously. */
export async function migrateHost(db: SqlClient): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/host.sql', import.meta.url), 'utf8')
  await migrate(db, { namespace: 'host', ddl })
}
