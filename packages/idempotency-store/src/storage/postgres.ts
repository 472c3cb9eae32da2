import { readFileSync } from 'node:fs'
import {
  migrate as migrateRoom,
  readVersions,
  rows,
  type SqlClient,
  type SqlQueries,
} from '@gatewright/kernel/sql'
import type { IdempotencyStorage } from './port.ts'
import { recordInTransaction } from './postgres-transaction.ts'
import {
  COLUMNS,
  sqlStorage,
  tableName,
  TAKEABLE,
  TAKE_OR_RETURN,
  type SqlStorageOptions,
} from './statements.ts'

export type { SqlStorageOptions } from './statements.ts'

/**
 * One statement: a live record is read and nothing is written; else the INSERT decides, on the newest version
 * of the row and not on the statement's snapshot.
 */
function beginStatement(table: string): string {
  return `with
    found as (select ${COLUMNS} from ${table} as held where digest = $1 and not ${TAKEABLE}),
    begun as (insert into ${table} as held (digest, fingerprint, owner, fence, state, until)
      select $1, $2, $3, cast($5 as bigint), 'running', cast($4 as bigint)
      where not exists (select 1 from found) ${TAKE_OR_RETURN})
    select * from begun union all select * from found`
}

/** The record in Postgres. One statement per verb, READ COMMITTED (the default) or stricter. */
export function postgresStorage(db: SqlQueries, options: SqlStorageOptions = {}): IdempotencyStorage {
  const begin = beginStatement(tableName(options))
  return sqlStorage(db, (queries, values) => rows(queries, begin, values), options)
}

/**
 * The record inside an open Postgres transaction, for `createTransactionalIdempotency`. A begin tries the key's
 * advisory lock and never waits: where another transaction runs the same key it answers `running` at once, so a
 * duplicate gives its connection back instead of holding it for as long as the first one takes. An ending that is
 * false asks for a rollback.
 */
export function postgresTransactionStorage(
  tx: SqlQueries,
  options: SqlStorageOptions = {},
): IdempotencyStorage {
  return recordInTransaction(tx, postgresStorage(tx, options), options)
}

/** Creates or updates the table. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/postgres.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'postgres', { room: 'idempotency', versions: readVersions(ddl) }, prefix)
}
