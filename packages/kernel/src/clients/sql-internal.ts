// What the packages of this repository share and no page describes: it may change in any release.
export { checkedPrefix, DEFAULT_PREFIX } from '../table-prefix.ts'
export { distribute, distributing, undistributed, type Placement } from './distribute.ts'
export { isCitus, takesDue } from './due-rows.ts'
export { newerTables } from './recorded-versions.ts'
export { IncompatibleTables } from './table-checks.ts'
export { lockName } from './named-lock.ts'
export { affected, defer, rowLock, rowsAhead, toInteger, toText, upsert } from './sql-client.ts'
export { withRollBack } from './roll-back.ts'
export { together } from './together.ts'
export { assertOutsideTransactionScope, withinTransactionScope } from './transaction-scope.ts'
export type { RetryReason } from './postgres/retries.ts'
export type {
  PlannedVersion,
  SqlDialect,
  SqlRow,
  SqlTransaction,
  SqlValue,
  TableMark,
} from './sql-client.ts'
export type { SqliteDatabase } from './sqlite.ts'
