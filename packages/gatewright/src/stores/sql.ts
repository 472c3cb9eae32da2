import { checkedPrefix, DEFAULT_PREFIX } from '@gatewright/kernel/internal/sql'
import { checkOptions } from '@gatewright/kernel/internal'

/** Options of `postgresStore`. */
export interface SqlStoreOptions {
  /** Begins the name of every table: `[a-z_][a-z0-9_]{0,30}`. Default `gw_`. */
  readonly prefix?: string
}

/** Returns the prefix of the tables. Throws a `TypeError` for a wrong option. */
export function prefixOf(where: string, options: SqlStoreOptions): string {
  return checkedPrefix(checkOptions(where, options, { prefix: { default: DEFAULT_PREFIX } }).prefix)
}
