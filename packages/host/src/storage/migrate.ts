import { migrate, type SqlClient } from '@gatewright/kernel/sql'
import { DDL } from './host-tables.ts'

/** Migrates the tables that every host has. Can be repeated, and is safe when many hosts start at once. */
export async function migrateKit(db: SqlClient): Promise<void> {
  await migrate(db, { namespace: 'host', ddl: DDL })
}
