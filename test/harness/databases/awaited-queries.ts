import type { SqlClient, SqlTransaction, SqlValue } from '@gatewright/kernel/sql'

/**
 * A database that notices a query whose caller does not wait for it. A transaction fails in which a query begins before the last one
 * has ended, or that ends before its last query. Without this a missing `await` works by chance: SQLite runs a query at once, and
 * Postgres runs those of a connection in order.
 */
export function withAwaitedQueries(db: SqlClient): SqlClient {
  return {
    dialect: db.dialect,
    query: (text, values) => db.query(text, values),
    transaction: (work, options) =>
      db.transaction(async tx => {
        let open = false
        let early: string | undefined
        const query = async (text: string, values?: readonly SqlValue[]) => {
          if (open) early ??= text
          open = true
          await new Promise(setImmediate)
          return tx.query(text, values).finally(() => {
            open = false
          })
        }
        const defer: SqlTransaction['defer'] = (text, values, received) => {
          if (open) early ??= text
          tx.defer?.(text, values, received)
        }
        const wrapped: SqlTransaction = {
          dialect: tx.dialect,
          query,
          ...(tx.defer && { defer }),
        }
        const result = await work(wrapped)
        if (open) throw new Error('the transaction ends before its last query')
        if (early !== undefined) throw new Error(`a query begins before the last one has ended: ${early}`)
        return result
      }, options),
  }
}
