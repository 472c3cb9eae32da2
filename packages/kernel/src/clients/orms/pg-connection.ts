import type { SqlRow } from '../sql-client.ts'
import type { RunStatement } from './orm-client.ts'

/** The part of a connection of `pg` that is used. */
export interface PgClient {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly SqlRow[] }>
}

/** Runs each statement on a connection of `pg` that is taken for it from a pool, and returned to it. */
export function onPooled(
  acquire: () => Promise<PgClient>,
  release: (connection: PgClient) => Promise<unknown>,
): RunStatement {
  return async (text, values) => {
    const connection = await acquire()
    try {
      return await onPg(connection)(text, values)
    } finally {
      await release(connection)
    }
  }
}

/** Runs statements on a connection of `pg`, or on a pool. */
export function onPg(connection: PgClient): RunStatement {
  return (text, values) => connection.query(text, [...values])
}
