import { readFileSync } from 'node:fs'
import { migrate, type SqlClient } from '@gatewright/kernel/sql'

/** Creates or updates the tables. It can be repeated, and several hosts may call it simultaneously. */
export async function migrateIdempotency(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/tables.sql', import.meta.url), 'utf8')
  await migrate(db, { namespace: 'idempotency', ddl }, prefix)
}
