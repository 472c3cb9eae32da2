import { readFileSync } from 'node:fs'
import { migrate, readVersions, type SqlClient, type SqlDialect } from '@gatewright/kernel/sql'

/** Migrates the host's own tables. Can be repeated, and is safe when many hosts start at once. */
export async function migrateHost(db: SqlClient, dialect: SqlDialect): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/host.sql', import.meta.url), 'utf8')
  await migrate(db, dialect, { namespace: 'host', versions: readVersions(ddl, dialect) })
}
