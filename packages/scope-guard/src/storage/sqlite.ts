import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import type { ApprovalStorage } from './approvals-port.ts'
import { sqlApprovals } from './approvals-sql.ts'
import type { StorageOptions } from './options.ts'
import type { SpendStorage } from './port.ts'
import { sqlSpends } from './sql-spends.ts'
import { checkedSqlPrefix } from './sql-statements.ts'

export { migrateSpends } from './migrate.ts'
export { sqlRevocationFeed } from './sql-feed.ts'
export type { FeedOptions, StorageOptions } from './options.ts'

/**
 * Stores spend counters in the embedded SQLite database of one host process. `reserve`, `settle` and `release` are one
 * `BEGIN IMMEDIATE` transaction each, or run in the `tx` that you pass (an object without `transaction`), with the business
 * rows.
 */
export function sqliteSpends(db: SqlClient | SqlQueries, options: StorageOptions = {}): SpendStorage {
  return sqlSpends(db, checkedSqlPrefix('sqliteSpends', options))
}

/**
 * Stores approvals in the embedded SQLite database of one host process, in the tables of `migrateSpends`. Each function is a transaction of its own, or runs in the `tx` that you pass (an
 * object without `transaction`): so `use` commits with the business rows.
 */
export function sqliteApprovals(db: SqlClient | SqlQueries, options: StorageOptions = {}): ApprovalStorage {
  return sqlApprovals(db, checkedSqlPrefix('sqliteApprovals', options))
}
