import { readFileSync } from 'node:fs'
import {
  migrate as migrateRoom,
  readVersions,
  rows,
  type SqlClient,
  type SqlQueries,
  type SqlTransaction,
} from '@gatewright/kernel/sql'
import { knownOptions, type OptionNames } from '@gatewright/kernel'
import type { IdempotencyStorage, TransactionStorage } from './port.ts'
import { verbsTogether } from './postgres-together.ts'
import { recordInTransaction } from './postgres-transaction.ts'
import {
  COLUMNS,
  sqlStorage,
  sqlVerbs,
  tableName,
  takeable,
  TAKE_OR_RETURN,
  SQL_OPTIONS,
  type SqlStorageOptions,
  type SqlVerbs,
} from './statements.ts'

export type { SqlStorageOptions } from './statements.ts'

/** Options of `postgresStorage`. */
export interface PostgresStorageOptions extends SqlStorageOptions {
  /**
   * Whether calls that are made while others are under way share statements. Default: true for a client, false for
   * a transaction. Set it to false for a client whose connection or settings depend on who calls, such as one
   * that finds a tenant for row-level security in the async context; a client of each tenant needs nothing.
   */
  readonly together?: boolean
}

const POSTGRES_OPTIONS: OptionNames<PostgresStorageOptions> = { ...SQL_OPTIONS, together: true }

/**
 * One statement: a live record is read and nothing is written; else the INSERT decides, on the newest version
 * of the row and not on the statement's snapshot.
 */
function beginStatement(table: string): string {
  return `with
    found as (select ${COLUMNS} from ${table} as held where digest = $1 and not ${takeable('$5')}),
    begun as (insert into ${table} as held (digest, fingerprint, owner, fence, state, until)
      select $1, $2, $3, cast($5 as bigint), 'running', cast($4 as bigint)
      where not exists (select 1 from found) ${TAKE_OR_RETURN})
    select * from begun union all select * from found`
}

/** A collection waits for nobody: it locks in another order than the verbs do. */
function verbsAlone(db: SqlQueries, table: string): SqlVerbs {
  const begin = beginStatement(table)
  return sqlVerbs(db, table, values => rows(db, begin, values), 'for update skip locked')
}

/**
 * The record in Postgres. One statement per verb, READ COMMITTED (the default) or stricter. Calls that are made
 * while others are under way share statements; one that the server refuses is then repeated call by call.
 */
export function postgresStorage(db: SqlQueries, options: PostgresStorageOptions = {}): IdempotencyStorage {
  const table = tableName(knownOptions('postgresStorage', options, POSTGRES_OPTIONS))
  const alone = verbsAlone(db, table)
  const { together = true } = options
  return sqlStorage(together && 'transaction' in db ? verbsTogether(db as SqlClient, table, alone) : alone)
}

/**
 * The record inside an open Postgres transaction, for `createTransactionalIdempotency`. A begin tries the key's
 * advisory lock and never waits: where another transaction runs the same key it answers `running` at once, so a
 * duplicate gives its connection back instead of holding it for as long as the first one takes. An ending that is
 * false asks for a rollback.
 */
export function postgresTransactionStorage(
  tx: SqlTransaction,
  options: SqlStorageOptions = {},
): TransactionStorage {
  knownOptions('postgresTransactionStorage', options, SQL_OPTIONS)
  return recordInTransaction(tx, () => postgresStorage(tx, { ...options, together: false }), options)
}

/** Creates or updates the table. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/postgres.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'postgres', { namespace: 'idempotency', versions: readVersions(ddl) }, prefix)
}
