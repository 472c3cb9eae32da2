import type { SqlQueries } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'

/** The stores that a host runs on. */
export type HostDialect = Exclude<SqlDialect, 'mysql'>

/** Returns the dialect of a database of a host. Throws a `TypeError` for a store that no host runs on. */
export function hostDialect({ dialect }: SqlQueries): HostDialect {
  if (dialect === 'mysql') throw new TypeError('a host runs on Postgres or SQLite, not on MySQL')
  return dialect
}
