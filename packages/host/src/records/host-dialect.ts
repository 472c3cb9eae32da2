import type { SqlQueries } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'

/** The stores that a host runs on. */
export type HostDialect = Exclude<SqlDialect, 'mariadb'>

/** Returns the dialect of a database of a host. Throws a `TypeError` for a store that no host runs on. */
export function hostDialect({ dialect }: SqlQueries): HostDialect {
  if (dialect === 'mariadb') throw new TypeError('a host runs on Postgres or SQLite, not on MariaDB')
  return dialect
}
