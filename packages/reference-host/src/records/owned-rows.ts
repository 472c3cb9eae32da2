import { randomUUID } from 'node:crypto'
import { rows, type SqlDialect, type SqlQueries, type SqlRow, type SqlValue } from '@gatewright/kernel/sql'

/**
 * The rows of a table in which each row belongs to one account. Every read names the account, so that ids of other accounts
 * are never found.
 */
export interface OwnedRows<T> {
  /** Inserts a row and returns it; undefined if the id exists already, in this or another account. */
  insert(tx: SqlQueries, columns: Readonly<Record<string, SqlValue>>): Promise<T | undefined>
  find(db: SqlQueries, accountId: string, id: string): Promise<T | undefined>
  /** Finds a row and locks it until the transaction ends. */
  lock(tx: SqlQueries, accountId: string, id: string): Promise<T | undefined>
  /**
   * Returns up to `limit` rows, newest first, that are older than the position `after` (0: from the newest). `only` filters
   * by equal columns.
   */
  page(
    db: SqlQueries,
    accountId: string,
    page: { readonly after: number; readonly limit: number },
    only?: Readonly<Record<string, SqlValue>>,
  ): Promise<T[]>
}

/**
 * Makes the queries of a table that has the columns `id`, `account_id` and `position`. Names of tables and columns become part of
 * the SQL text: pass constants, never a text of a request.
 */
export function ownedRows<T>(dialect: SqlDialect, table: string, read: (row: SqlRow) => T): OwnedRows<T> {
  const forUpdate = dialect === 'postgres' ? ' for update' : ''
  const one = async (db: SqlQueries, text: string, values: SqlValue[]): Promise<T | undefined> => {
    const [row] = await rows(db, text, values)
    return row && read(row)
  }
  return {
    insert(tx, columns) {
      const names = Object.keys(columns)
      const places = names.map((_, index) => `$${index + 1}`)
      return one(
        tx,
        `insert into ${table} (${names.join(', ')}) values (${places.join(', ')}) on conflict (id) do nothing returning *`,
        Object.values(columns),
      )
    },
    find: (db, accountId, id) =>
      one(db, `select * from ${table} where id = $1 and account_id = $2`, [id, accountId]),
    lock: (tx, accountId, id) =>
      one(tx, `select * from ${table} where id = $1 and account_id = $2${forUpdate}`, [id, accountId]),
    async page(db, accountId, { after, limit }, only = {}) {
      const before = after === 0 ? Number.MAX_SAFE_INTEGER : after
      const conditions = Object.keys(only).map((name, index) => ` and ${name} = $${index + 4}`)
      const text = `select * from ${table} where account_id = $1 and position < $2${conditions.join('')}
        order by position desc limit $3`
      return (await rows(db, text, [accountId, before, limit, ...Object.values(only)])).map(read)
    },
  }
}

/** Makes a new id: the kind, `_` and 32 random hexadecimal digits. */
export function newId(kind: string): string {
  return `${kind}_${randomUUID().replaceAll('-', '')}`
}
