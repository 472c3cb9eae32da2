import { checkOptions } from '@gatewright/kernel/internal'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { hasAllFeatures, type SqlTransaction } from '@gatewright/kernel/internal/sql'
import type { IdempotencyStorage, TransactionStorage } from './port.ts'
import { batchedStatements } from './postgres-batching.ts'
import { transactionStorage } from './postgres-transaction.ts'
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

/** Options of `postgresIdempotency`. */
interface PostgresIdempotencyOptions extends SqlIdempotencyOptions {
  /**
   * Whether calls that are made while others are in flight share statements. Default: true for a client, false for a
   * transaction. Set it to false for a client whose connection or settings depend on the caller, such as one that takes the
   * tenant for row-level security from the async context. With a client and a storage per tenant it can stay true.
   */
  readonly batching?: boolean
}

/**
 * Stores the records in Postgres. One statement per call, under READ COMMITTED (the default) or a stricter isolation level.
 * Calls that are made while others are in flight share statements; a shared statement that the server rejects is repeated call
 * by call.
 */
export function postgresIdempotency(
  db: SqlQueries,
  options: PostgresIdempotencyOptions = {},
): IdempotencyStorage {
  const { prefix, batching } = checkOptions('postgresIdempotency', options, {
    ...SQL_OPTIONS,
    batching: { default: true },
  })
  const table = tableName(prefix)
  // A record that has not ended is read, and nothing is written. Otherwise the INSERT decides, on the newest version of the
  // row and not on the statement's snapshot.
  const begin = `with
    found as (select ${COLUMNS} from ${table} as held where ${IS_RECORD} and not ${hasEnded('$6')}),
    begun as (insert into ${table} as held
      (digest, account_id, fingerprint, owner, fence, state, until, operation, account, began)
      select $1, $2, $3, $4, cast($6 as bigint), 'running', cast($5 as bigint), $7, $8, cast($6 as bigint)
      where not exists (select 1 from found) ${REPLACE_OR_RETURN})
    select * from begun union all select * from found`
  // Collecting skips locked rows, because it locks rows in another order than the other statements.
  const single = sqlStatements(db, table, values => rows(db, begin, values), 'for update skip locked')
  return sqlStorage(
    batching && 'transaction' in db ? batchedStatements(db as SqlClient, table, single) : single,
  )
}

/**
 * Stores the records in an open Postgres transaction, for `createTransactionalIdempotency`. A begin tries the key's advisory
 * lock and never waits: it returns `running` immediately if another transaction runs the same key, so a duplicate does not
 * hold its connection while the first one runs. With `features: 'minimal'` a begin inserts the record, and a duplicate waits for the
 * transaction of the first one, at most for the `lock_timeout` of its connection, and then gets its response. If `end` returns false, roll back.
 */
export function postgresTransactionalIdempotency(
  tx: SqlTransaction,
  options: SqlIdempotencyOptions = {},
): TransactionStorage {
  const { prefix } = checkOptions('postgresTransactionalIdempotency', options, SQL_OPTIONS)
  const storage = (): IdempotencyStorage => postgresIdempotency(tx, { prefix, batching: false })
  return hasAllFeatures(tx) ? transactionStorage(tx, storage, prefix) : storage()
}
