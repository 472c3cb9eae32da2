import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { AliasUsageStorage } from './port.ts'
import { markBatch, sharedMethods, checkedTables, wasAdded, type SqlAliasUsageOptions } from './statements.ts'

export { migrateAliasUsage } from './migrate.ts'
export type { SqlAliasUsageOptions } from './statements.ts'

/** Stores the usage in the embedded SQLite of one host process, with a transaction of two statements per batch. */
export function sqliteAliasUsage(db: SqlClient, options: SqlAliasUsageOptions = {}): AliasUsageStorage {
  const tables = checkedTables('sqliteAliasUsage', options)
  const { usage, writers } = tables
  // Without `where true` the parser would read ON CONFLICT as the condition of a join.
  const count = `insert into ${usage} as held (alias, principal, count, first_seen, last_seen)
    select value ->> 'alias', value ->> 'caller', value ->> 'count', value ->> 'firstSeen', value ->> 'lastSeen'
    from json_each($1) where true
    on conflict (alias, principal) do update set count = held.count + excluded.count,
      first_seen = min(held.first_seen, excluded.first_seen),
      last_seen = max(held.last_seen, excluded.last_seen)`
  return {
    ...sharedMethods(db, tables),
    add: ({ writer, sequence, rows: batch }, now) =>
      db.transaction(async tx => {
        const added = wasAdded(await rows(tx, markBatch(writers), [writer, sequence, now]))
        if (added) await rows(tx, count, [JSON.stringify(batch)])
        return added
      }),
  }
}
