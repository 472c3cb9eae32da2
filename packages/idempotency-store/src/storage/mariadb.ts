import { checkOptions } from '@gatewright/kernel/internal'
import { rows, type SqlQueries, type SqlRow, type SqlValue } from '@gatewright/kernel/sql'
import { affected } from '@gatewright/kernel/internal/sql'
import type { IdempotencyStorage } from './port.ts'
import {
  COLUMNS,
  hasEnded,
  IS_RECORD,
  SQL_OPTIONS,
  sqlStatements,
  sqlStorage,
  tableName,
  type SqlIdempotencyOptions,
  type SqlStatements,
} from './statements.ts'

export { migrateIdempotency } from './migrate.ts'
export type { SqlIdempotencyOptions } from './statements.ts'

/**
 * Stores the records in MariaDB, with a client of `fromMysql2`, or in an open transaction of it, for `createTransactionalIdempotency`. There a
 * duplicate waits for the transaction of the first one, at most for the `innodb_lock_wait_timeout` of its connection, and then gets its
 * response. If `end` returns false, roll back.
 */
export function mariadbIdempotency(db: SqlQueries, options: SqlIdempotencyOptions = {}): IdempotencyStorage {
  const table = tableName(checkOptions('mariadbIdempotency', options, SQL_OPTIONS).prefix)
  const begin = beginStatement(table)
  const statements = sqlStatements(db, table, values => rows(db, begin, values))
  return sqlStorage({ ...statements, ...countedWrites(db, table) })
}

/** The columns of a record that a new run replaces, besides its owner. */
const REPLACED = ['fingerprint', 'state', 'until', 'operation', 'account', 'began', 'response']

/** The `insert` of a begin, which returns the row of the key in any case. */
function beginStatement(table: string): string {
  const isReplaced = `${table}.owner = values(owner)`
  const replaced = REPLACED.map(
    column => `${column} = case when ${isReplaced} then values(${column}) else ${table}.${column} end`,
  )
  // MariaDB assigns from left to right, and each expression sees the values before it: the owner tells the others whether the record had ended.
  // It compares the owner rightly only in a column that is no `longtext`: there, `values` reads the old value after the assignment.
  return `insert into ${table} (digest, account_id, fingerprint, owner, fence, state, until, operation, account, began)
    values ($1, $2, $3, $4, $6, 'running', $5, $7, $8, $6)
    on duplicate key update
      owner = case when ${hasEnded('values(fence)').replaceAll('held.', `${table}.`)} then values(owner) else ${table}.owner end,
      fence = case when not (${isReplaced}) then ${table}.fence
        when ${table}.fence >= values(fence) then ${table}.fence + 1 else values(fence) end,
      ${replaced.join(', ')}
    returning ${COLUMNS}`
}

/** The writes that change or delete rows: an `update` of MariaDB returns none, but their number says whether there was one. */
function countedWrites(
  db: SqlQueries,
  table: string,
): Pick<SqlStatements, 'end' | 'extend' | 'takeOver' | 'collect'> {
  const isRun = `${IS_RECORD} and fence = $3`
  // The state is assigned last: the expressions before it see the old one.
  const end = `update ${table} set
    response = case when state = 'running' then $5 else response end,
    until = case when state = 'running' then $6 else until end,
    decision = case when state = 'running' then coalesce($7, decision) else decision end,
    state = $4
    where ${isRun} and (state = 'running' or (state = $4 and coalesce(response, '') = coalesce($5, '')))`
  const extend = `update ${table} set until = greatest(until, $4) where ${isRun} and state = 'running' and until > $5`
  const takeOver = `update ${table} set fence = $6, until = $4, owner = ''
    where ${isRun} and state = 'running' and until <= $5`
  const collect = `delete from ${table} where state <> 'running' and until <= $1 order by until limit $2`
  const rowsOf = async (text: string, values: readonly SqlValue[], row: SqlRow): Promise<SqlRow[]> =>
    Array.from({ length: await affected(db, text, values) }, () => row)
  return {
    end: values => rowsOf(end, values, { won: 1 }),
    extend: values => rowsOf(extend, values, { won: 1 }),
    takeOver: values => {
      const [, , before, , now] = values
      const fence = Math.max(before + 1, now)
      return rowsOf(takeOver, [...values, fence], { fence })
    },
    collect: (endedAt, limit) => rowsOf(collect, [endedAt, limit], { gone: 1 }),
  }
}
