import type { SqlValue } from './sql-client.ts'

/** Whether drivers can bind a value. Of others, libsql ends the whole process for a boolean. */
function isSqlValue(value: unknown): value is SqlValue {
  return (
    value === null || ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array
  )
}

/** Rewrites `$n` to `?`, the only form that all drivers of SQLite take. `order` has the index of the value of each `?`. */
export function toPositional(text: string): { readonly plain: string; readonly order: readonly number[] } {
  const order: number[] = []
  const plain = text.replace(/\$(\d+)/g, (_, n: string) => {
    order.push(Number(n) - 1)
    return '?'
  })
  return { plain, order }
}

/** Returns the values of a positional statement. Throws a `TypeError` for one that is missing or has another type. */
export function inOrder(order: readonly number[], values: readonly SqlValue[]): SqlValue[] {
  return order.map(index => {
    const value: unknown = values[index]
    if (isSqlValue(value)) return value
    // SQLite would bind NULL; Postgres rejects.
    if (value === undefined) throw new TypeError(`the statement has no value for $${index + 1}`)
    throw new TypeError(
      `$${index + 1} must be a string, number, bigint, Uint8Array or null, got ${typeof value}`,
    )
  })
}
