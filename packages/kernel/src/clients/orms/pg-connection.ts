import type { SqlRow } from '../sql-client.ts'
import type { RunStatement } from './orm-client.ts'

/** The part of a connection of `pg` that is used. */
export interface PgClient {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly SqlRow[] }>
}

/** Runs statements on a connection of `pg`, or on a pool. */
export function onPg(connection: PgClient): RunStatement {
  return (text, values) => connection.query(text, [...values])
}
