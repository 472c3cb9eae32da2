import { checkOptions } from '@gatewright/kernel/internal'
import {
  rows,
  type SqlClient,
  type SqlQueries,
  type SqlTransaction,
  type SqlValue,
} from '@gatewright/kernel/sql'
import { defer, rowsAhead, toText } from '@gatewright/kernel/internal/sql'
import type { Ending, IdempotencyStorage, TransactionStorage } from './port.ts'
import { batchedStatements } from './postgres-batching.ts'
import {
  columnsOf,
  endingValues,
  hasEnded,
  IS_RECORD,
  REPLACE_OR_RETURN,
  SQL_OPTIONS,
  sqlStatements,
  sqlStorage,
  tableName,
  type SqlIdempotencyOptions,
  type SqlStatements,
} from './statements.ts'

export { migrateIdempotency } from './migrate.ts'
export type { SqlIdempotencyOptions } from './statements.ts'

/** Options of `postgresIdempotency`. */
export interface PostgresIdempotencyOptions extends SqlIdempotencyOptions {
  /**
   * Whether calls that are made while others are in flight share statements. Default: true for a client, false for a
   * transaction. Set it to false for a client whose connection or settings depend on the caller, such as one that takes the
   * tenant for row-level security from the async context. With a client and a storage per tenant it can stay true.
   */
  readonly batching?: boolean
}

/**
 * Stores the records in Postgres. One statement per call, and up to two more for a key that has a record, under READ COMMITTED (the
 * default) or a stricter isolation level. Calls that are made while others are in flight share statements; a shared statement that the
 * server rejects is repeated call by call.
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
  const single = singleStatements(db, table, 'running')
  return sqlStorage(
    batching && 'transaction' in db ? batchedStatements(db as SqlClient, table, single) : single,
  )
}

/** Makes a statement for each method. A new record has the state `inserted`, of which its begin says `running`. */
function singleStatements(db: SqlQueries, table: string, inserted: 'running' | 'done'): SqlStatements {
  const insert = `insert into ${table} as held
    (digest, account_id, fingerprint, owner, fence, state, until, operation, account, began)
    values ($1, $2, $3, $4, $6`
  const add = `${insert}, '${inserted}', $5, $7, $8, $6) on conflict (account_id, digest) do nothing
    returning fingerprint, owner, fence, 'running' as state, until, response`
  // A record without a response is that of a run of this transaction, whatever its state.
  const find = `select fingerprint, owner, fence, case when response is null then 'running' else state end as state,
    until, response from ${table} as held where ${IS_RECORD} and not ${hasEnded('$3')}`
  const replace = `${insert}, 'running', $5, $7, $8, $6) ${REPLACE_OR_RETURN}`
  const begin: SqlStatements['begin'] = async values => {
    const added = await rows(db, add, values)
    if (added.length > 0) return added
    // A record that has not ended is read, and nothing is written.
    const [digest, accountId, , , , now] = values
    const found = await rows(db, find, [digest, accountId, now])
    return found.length > 0 ? found : rows(db, replace, values)
  }
  return sqlStatements(db, table, begin)
}

/** How long a begin waits for another transaction that runs the same key. Long enough for most to end. */
const WAIT = '100ms'
/** `set local`, and not `set_config`, because Citus passes only that on to the machine that has the record. */
const limitWait = (limit: string): string => `set local lock_timeout = '${limit}'`

/**
 * Stores the records in an open Postgres transaction, for `createTransactionalIdempotency`. A begin inserts the record. If another transaction
 * runs the same key, it waits for 100 ms at most and then returns `running`: roll back then, so that a duplicate does not hold its
 * connection while the first one runs. Afterwards `lock_timeout` is what it was before. Also roll back if `end`
 * returns false.
 */
export function postgresTransactionalIdempotency(
  tx: SqlTransaction,
  options: SqlIdempotencyOptions = {},
): TransactionStorage {
  const { prefix } = checkOptions('postgresTransactionalIdempotency', options, SQL_OPTIONS)
  const table = tableName(prefix)
  // Nobody sees the record before the commit. With the state and the end of its retention that it will have, no index changes when it ends.
  const storage = sqlStorage(singleStatements(tx, table, 'done'))
  const endText = `update ${table} set state = $4, response = $5, until = $6
    where ${IS_RECORD} and fence = $3 returning 1 as won`
  const begun = begunIn(tx)
  const endBegun = async (queries: SqlQueries, key: string, ending: Ending): Promise<boolean> => {
    const [state, response, until] = endingValues(ending)
    const values = [...columnsOf(key), begun.get(key) as number, state, response, until]
    begun.delete(key)
    return (await rows(queries, endText, values)).length === 1
  }
  const { commit } = tx
  return {
    ...storage,
    async begin(...given) {
      const before = await rowsAhead(tx, 'show lock_timeout')
      await defer(tx, limitWait(WAIT))
      try {
        const result = await storage.begin(...given)
        await defer(tx, limitWait(toText(before()[0]?.['lock_timeout'])))
        if (result.state === 'started') begun.set(given[0], result.fence)
        return result
      } catch (error) {
        if (hasWaitedTooLong(error)) return { state: 'running' }
        throw error
      }
    },
    end: async (key, fence, ending, now) =>
      begun.get(key) === fence ? endBegun(tx, key, ending) : storage.end(key, fence, ending, now),
    ...(commit && {
      endLast: async (key, fence, ending, now) => {
        if (begun.get(key) !== fence) return storage.end(key, fence, ending, now)
        const last = {
          ...tx,
          query: (text: string, values?: readonly SqlValue[]) => commit.call(tx, text, values),
        }
        return endBegun(last, key, ending)
      },
    }),
  }
}

/**
 * The fences of the runs that have begun in each transaction and have not ended. Their records are locked. Kept by transaction, because begin
 * and end may come from two storages over it.
 */
const begunRuns = new WeakMap<SqlQueries, Map<string, number>>()

function begunIn(tx: SqlQueries): Map<string, number> {
  const begun = begunRuns.get(tx) ?? new Map<string, number>()
  begunRuns.set(tx, begun)
  return begun
}

function hasWaitedTooLong(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  return cause?.code === '55P03'
}
