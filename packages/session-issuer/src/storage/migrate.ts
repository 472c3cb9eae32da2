import { migrate, type SqlClient } from '@gatewright/kernel/sql'
import { DDL } from './tables.ts'

/** Creates or updates the tables. It can be repeated, and several hosts may call it simultaneously. */
export async function migrateCredentials(db: SqlClient, prefix?: string): Promise<void> {
  await migrate(db, { namespace: 'session-issuer', ddl: DDL }, prefix)
}
