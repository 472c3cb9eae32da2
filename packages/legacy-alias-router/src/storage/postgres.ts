import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { AliasUsageStorage } from './port.ts'
import { markBatch, sharedMethods, checkedTables, wasAdded, type SqlAliasUsageOptions } from './statements.ts'

export { migrateAliasUsage } from './migrate.ts'
export type { SqlAliasUsageOptions } from './statements.ts'

/**
 * Stores the usage in Postgres, with one statement per batch. Rows are locked in one order, so that batches of two writers
 * never deadlock. The writer's row is written first, and a batch that was added before adds nothing.
 */
export function postgresAliasUsage(db: SqlQueries, options: SqlAliasUsageOptions = {}): AliasUsageStorage {
  const tables = checkedTables('postgresAliasUsage', options)
  const { usage, writers } = tables
  const add = `with mark as (${markBatch(writers)}), counted as (
    insert into ${usage} as held (alias, principal, count, first_seen, last_seen)
    select alias, caller, count, first_seen, last_seen from mark, jsonb_to_recordset($4::jsonb)
      as row (alias text, caller text, count bigint, first_seen bigint, last_seen bigint)
    order by alias collate "C", caller collate "C"
    on conflict (alias, principal) do update set count = held.count + excluded.count,
      first_seen = least(held.first_seen, excluded.first_seen),
      last_seen = greatest(held.last_seen, excluded.last_seen)
    ) select added from mark`
  return {
    ...sharedMethods(db, tables),
    add: async ({ writer, sequence, rows: batch }, now) => {
      const json = batch.map(({ firstSeen, lastSeen, ...row }) => ({
        ...row,
        first_seen: firstSeen,
        last_seen: lastSeen,
      }))
      return wasAdded(await rows(db, add, [writer, sequence, now, JSON.stringify(json)]))
    },
  }
}
