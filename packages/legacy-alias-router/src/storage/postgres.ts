import { readFileSync } from 'node:fs'
import {
  migrate as migrateRoom,
  readVersions,
  rows,
  type SqlClient,
  type SqlQueries,
} from '@gatewright/kernel/sql'
import { knownOptions } from '@gatewright/kernel'
import type { AliasUsageStorage } from './port.ts'
import {
  markBatch,
  sharedVerbs,
  tables,
  wasAdded,
  SQL_OPTIONS,
  type SqlStorageOptions,
} from './statements.ts'

export type { SqlStorageOptions } from './statements.ts'

/**
 * Usage in Postgres, a statement per batch. Rows are taken in one order, so that batches of two writers wait for
 * each other and never deadlock; the mark is taken first, so a batch that was added before counts nothing.
 */
export function postgresStorage(db: SqlQueries, options: SqlStorageOptions = {}): AliasUsageStorage {
  const { usage, writers } = tables(knownOptions('postgresStorage', options, SQL_OPTIONS))
  const add = `with mark as (${markBatch(writers)}), counted as (
    insert into ${usage} as held (alias, principal, count, first_seen, last_seen)
    select alias, principal, count, first_seen, last_seen from mark, jsonb_to_recordset($4::jsonb)
      as row (alias text, principal text, count bigint, first_seen bigint, last_seen bigint)
    order by alias collate "C", principal collate "C"
    on conflict (alias, principal) do update set count = held.count + excluded.count,
      first_seen = least(held.first_seen, excluded.first_seen),
      last_seen = greatest(held.last_seen, excluded.last_seen)
    ) select added from mark`
  return {
    ...sharedVerbs(db, options),
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

/** Creates or updates the tables. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/postgres.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'postgres', { namespace: 'alias_usage', versions: readVersions(ddl) }, prefix)
}
