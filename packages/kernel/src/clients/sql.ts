export { checkedPrefix, DEFAULT_PREFIX } from '../table-prefix.ts'
export { IncompatibleTables, migrate } from './migrate.ts'
export { fromPgPool } from './postgres/pool.ts'
export { defer, rowLock, rows, toInteger, toText } from './sql-client.ts'
export { fromSqlite } from './sqlite.ts'
export { assertOutsideTransactionScope, withinTransactionScope } from './transaction-scope.ts'
export type { PgPoolOptions } from './postgres/pool.ts'
export type {
  SqlClient,
  SqlDialect,
  SqlQueries,
  SqlRow,
  SqlTransaction,
  SqlTransactionOptions,
  SqlValue,
} from './sql-client.ts'
export type { SqliteDatabase } from './sqlite.ts'
