import { malformedReply } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { checkedPrefix, DEFAULT_PREFIX, toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { AliasUsage, AliasUsageStorage } from './port.ts'

/** Options of the SQL adapters. */
export interface SqlAliasUsageOptions {
  /** Prefix of the tables, as given to `migrate`. Default `gw_`. */
  readonly prefix?: string
}

/** Checks the options of an SQL adapter, and returns its two tables. Throws a `TypeError` for a wrong one. */
export function checkedTables(
  where: string,
  options: SqlAliasUsageOptions,
): { readonly usage: string; readonly writers: string } {
  const prefix = checkedPrefix(checkOptions(where, options, { prefix: { default: DEFAULT_PREFIX } }).prefix)
  return { usage: `${prefix}alias_usage`, writers: `${prefix}alias_writers` }
}

/** Stores the number of a writer's batch ($1 writer, $2 sequence, $3 now). Returns no row if the batch was added before. */
export const markBatch = (writers: string): string =>
  `insert into ${writers} as held (writer, sequence, seen_at) values ($1, $2, $3)
   on conflict (writer) do update set sequence = excluded.sequence, seen_at = excluded.seen_at
   where held.sequence < excluded.sequence
   returning 1 as added`

// The column of the caller is named `principal`.
function usageOf(row: SqlRow): AliasUsage {
  return {
    alias: toText(row['alias']),
    caller: toText(row['principal']),
    count: toInteger(row['count']),
    firstSeen: toInteger(row['first_seen']),
    lastSeen: toInteger(row['last_seen']),
  }
}

/** Reads whether a batch was added. Fault: `ERR_STORE_REPLY`. */
export function wasAdded(found: readonly SqlRow[]): boolean {
  const [row, ...rest] = found
  if (rest.length > 0 || (row && toInteger(row['added']) !== 1))
    throw malformedReply('database', 'one row or none')
  return row !== undefined
}

/** Makes the methods that are the same on Postgres and SQLite. */
export function sharedMethods(
  db: SqlQueries,
  { usage, writers }: ReturnType<typeof checkedTables>,
): Pick<AliasUsageStorage, 'page' | 'collect'> {
  const page = `select alias, principal, count, first_seen, last_seen from ${usage}
    where (alias, principal) > ($1, $2) order by alias, principal limit $3`
  // The condition is repeated: if a row changes while the statement waits for it, Postgres evaluates only the outer condition again.
  const collect = `delete from ${usage} where (alias, principal) in
    (select alias, principal from ${usage} where last_seen < $1 order by last_seen limit $2) and last_seen < $1
    returning 1 as gone`
  return {
    page: async (after, limit) =>
      (await rows(db, page, [after?.alias ?? '', after?.caller ?? '', limit])).map(usageOf),
    collect: async (limit, before) => {
      await rows(db, `delete from ${writers} where seen_at < $1`, [before])
      return (await rows(db, collect, [before, limit])).length
    },
  }
}
