export { checkedPrefix, DEFAULT_PREFIX } from '../table-prefix.ts'
export { IncompatibleTables, migrate, readVersions } from './migrate.ts'
export { fromPgPool } from './postgres/pool.ts'
export { rows, toInteger, toText } from './sql-client.ts'
export { fromSqlite } from './sqlite.ts'
export { assertOutsideTransactionScope, withinTransactionScope } from './transaction-scope.ts'
export type { SqlDialect } from './migrate.ts'
export type { PgPoolOptions } from './postgres/pool.ts'
export type {
  SqlClient,
  SqlQueries,
  SqlRow,
  SqlTransaction,
  SqlTransactionOptions,
  SqlValue,
} from './sql-client.ts'
export type { SqliteDatabase } from './sqlite.ts'
