import { checkOptions } from '@gatewright/kernel/internal'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { IdempotencyStorage } from './port.ts'
import {
  COLUMNS,
  hasEnded,
  IS_RECORD,
  REPLACE_OR_RETURN,
  SQL_OPTIONS,
  sqlStatements,
  sqlStorage,
  tableName,
  type SqlIdempotencyOptions,
} from './statements.ts'

export { migrateIdempotency } from './migrate.ts'
export type { SqlIdempotencyOptions } from './statements.ts'

/**
 * Stores the records in the embedded SQLite of one host process. A begin first reads, on the client's `reader` if it has
 * one, so that a replay neither waits for writers nor writes.
 */
export function sqliteIdempotency(db: SqlQueries, options: SqlIdempotencyOptions = {}): IdempotencyStorage {
  const table = tableName(checkOptions('sqliteIdempotency', options, SQL_OPTIONS).prefix)
  const find = `select ${COLUMNS} from ${table} as held where ${IS_RECORD} and not ${hasEnded('$6')}`
  const begin = `insert into ${table} as held
    (digest, account_id, fingerprint, owner, fence, state, until, operation, account, began)
    values ($1, $2, $3, $4, $6, 'running', $5, $7, $8, $6) ${REPLACE_OR_RETURN}`
  return sqlStorage(
    sqlStatements(db, table, async values => {
      const found = await rows(db, find, values)
      return found.length > 0 ? found : rows(db, begin, values)
    }),
  )
}
