// What the packages of this repository share and no page describes: it may change in any release.
export { checkedPrefix, DEFAULT_PREFIX } from '../table-prefix.ts'
export { IncompatibleTables } from './migrate.ts'
export { defer, rowLock, toInteger, toText } from './sql-client.ts'
export { assertOutsideTransactionScope, withinTransactionScope } from './transaction-scope.ts'
export type { SqlDialect, SqlRow, SqlTransaction, SqlValue } from './sql-client.ts'
export type { SqliteDatabase } from './sqlite.ts'
