import { randomUUID } from 'node:crypto'
import { rows, type SqlDialect, type SqlQueries, type SqlRow, type SqlValue } from '@gatewright/kernel/sql'

/** The rows of one table, each of one account. Every read names the account, so that no id of another one is ever found. */
export interface OwnedRows<T> {
  /** Inserts a row; `undefined` when its id exists already. */
  insert(tx: SqlQueries, columns: Readonly<Record<string, SqlValue>>): Promise<T | undefined>
  find(db: SqlQueries, accountId: string, id: string): Promise<T | undefined>
  /** Finds a row and locks it until the transaction ends. */
  lock(tx: SqlQueries, accountId: string, id: string): Promise<T | undefined>
  /** Up to `limit` rows, newest first, behind the position `after` (0: from the newest). `only`: columns that must be equal. */
  page(
    db: SqlQueries,
    accountId: string,
    page: { readonly after: number; readonly limit: number },
    only?: Readonly<Record<string, SqlValue>>,
  ): Promise<T[]>
}

/**
 * The helper of every table with `id`, `account_id` and `position`. Names of tables and columns are the program's own: no text
 * of a request may become one.
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

/** A new id: the kind and 32 random hexadecimal digits. */
export function newId(kind: string): string {
  return `${kind}_${randomUUID().replaceAll('-', '')}`
}
