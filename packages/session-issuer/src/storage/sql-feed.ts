import { sqlFeed, type FeedChange } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { hasAllFeatures, lockName } from '@gatewright/kernel/internal/sql'

/** One lock for each feed table, also if tables in several schemas have the same name. */
const LOCK = `select pg_advisory_xact_lock(
  hashtextextended('gatewright.feed.' || cast(cast($1 as text) as regclass)::oid::text, 0))`

/**
 * Appends to the feed as the last statements of a transaction. On Postgres it holds one lock from here to the
 * commit, so positions are assigned in commit order. A position from the sequence alone could become visible after a
 * larger one, and readers would miss it.
 */
export async function appendToFeed(
  tx: SqlQueries,
  prefix: string,
  changes: readonly FeedChange[],
): Promise<void> {
  if (changes.length === 0) return
  const { table, channel } = sqlFeed(prefix)
  if (hasAllFeatures(tx)) await rows(tx, LOCK, [table])
  else await lockName(tx, prefix, { kind: 'feed', id: '' })
  for (const { kind, id, version, at, from } of changes) {
    await rows(tx, `insert into ${table} (kind, id, version, at, starts_at) values ($1, $2, $3, $4, $5)`, [
      kind,
      id,
      version ?? null,
      at,
      from ?? null,
    ])
  }
  if (hasAllFeatures(tx)) await rows(tx, 'select pg_notify($1, $2)', [channel, ''])
}
