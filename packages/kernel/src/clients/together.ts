import type { SqlQueries, SqlReply, SqlValue } from './sql-client.ts'

type Reads<T extends readonly unknown[]> = { readonly [K in keyof T]: (tx: SqlQueries) => Promise<T[K]> }

/** A statement that waits until all of the first ones are known. */
interface FirstStatement {
  readonly text: string
  readonly values: readonly SqlValue[] | undefined
  readonly resolve: (reply: SqlReply) => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs reads of a transaction that do not depend on each other, and resolves to their results. The first statement of each, if it
 * begins with one, is sent in one round trip, in the order of the reads; what a read sends afterwards is sent at once. If a first statement
 * fails, all reads fail with its error, because the transaction can then do nothing else. Where the driver cannot send statements
 * together, and on SQLite, one read runs after the other.
 */
export async function together<T extends readonly unknown[]>(tx: SqlQueries, ...reads: Reads<T>): Promise<T> {
  const results: unknown[] = []
  if (!tx.defer) {
    for (const read of reads) results.push(await read(tx))
    return results as unknown as T
  }
  const waiting: FirstStatement[] = []
  let sent = false
  const shared: SqlQueries = {
    dialect: tx.dialect,
    defer: (text, values, received) => tx.defer?.(text, values, received),
    query: (text, values) =>
      sent
        ? tx.query(text, values)
        : new Promise((resolve, reject) => {
            waiting.push({ text, values, resolve, reject })
          }),
  }
  const running = Promise.all(reads.map(read => read(shared)))
  sent = true
  sendAll(tx, waiting)
  return (await running) as unknown as T
}

/** Sends statements in one round trip. */
function sendAll(tx: SqlQueries, statements: readonly FirstStatement[]): void {
  const last = statements.at(-1)
  if (!last) return
  try {
    for (const { text, values, resolve } of statements.slice(0, -1))
      tx.defer?.(text, values, rows => resolve({ rows }))
  } catch (error) {
    for (const { reject } of statements) reject(error)
    return
  }
  tx.query(last.text, last.values).then(last.resolve, (error: unknown) => {
    for (const { reject } of statements) reject(error)
  })
}
