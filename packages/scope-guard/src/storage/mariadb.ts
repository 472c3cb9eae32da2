import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import type { StorageOptions } from './options.ts'
import type { SpendStorage } from './port.ts'
import { sqlSpends } from './sql-spends.ts'
import { checkedSqlPrefix } from './sql-statements.ts'

export { migrateSpends } from './migrate.ts'
export type { StorageOptions } from './options.ts'

/**
 * Stores spend counters in MariaDB, with a client of `fromMysql2`. `reserve`, `settle` and `release` are one transaction each, or run in the `tx`
 * that you pass (an object without `transaction`), with the business rows. A row of the account is locked to the end of the transaction.
 */
export function mariadbSpends(db: SqlClient | SqlQueries, options: StorageOptions = {}): SpendStorage {
  return sqlSpends(db, checkedSqlPrefix('mariadbSpends', options))
}
