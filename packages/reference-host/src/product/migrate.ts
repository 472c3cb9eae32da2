import { migrate, type SqlClient } from '@gatewright/kernel/sql'
import { migrateKit } from '@gatewright/host/internal'
import { DDL } from './product-tables.ts'

/** Migrates the tables of this product. Can be repeated, and is safe when many hosts start at once. */
export async function migrateProduct(db: SqlClient): Promise<void> {
  await migrate(db, { namespace: 'product', ddl: DDL })
}

/** Migrates the tables of every host and of this product, without those of credentials, idempotency, caps and the ledger. */
export async function migrateHost(db: SqlClient): Promise<void> {
  await migrateKit(db)
  await migrateProduct(db)
}
