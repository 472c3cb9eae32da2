export { rows, toInteger, toText } from './client.ts'
export { withinTransactionScope, assertOutsideTransactionScope } from './transaction-scope.ts'
export { checkedPrefix, DEFAULT_PREFIX } from '../prefix.ts'
export { migrate, readVersions } from './migrate.ts'
export { fromPgPool } from './pg.ts'
export { fromSqlite } from './sqlite.ts'
export type {
  SqlClient,
  SqlQueries,
  SqlRow,
  SqlTransaction,
  SqlTransactionOptions,
  SqlValue,
} from './client.ts'
export type { PgPoolOptions } from './pg.ts'
export type { Migration, SqlDialect } from './migrate.ts'
export type { SqliteDatabase } from './sqlite.ts'
