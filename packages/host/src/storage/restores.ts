import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'

/** A database that was brought back to an earlier time. */
export interface Restore {
  /** The writes after this time are lost. */
  readonly since: EpochMs
  /** When the operator said so. */
  readonly at: EpochMs
  /** Whether the command has run for this time before, so that what may happen only once for each restore has happened. */
  readonly repeated: boolean
}

/** How far the clock of a client may be ahead: a statement that it signed before the restore may say a later time. */
const CLIENT_SKEW_MS = 60_000

/** Records a restore. Repeating it records another one for the same time. */
export async function recordRestore(tx: SqlQueries, since: EpochMs, now: EpochMs): Promise<Restore> {
  const before = await rows(tx, 'select 1 as found from gw_restores where since = $1 limit 1', [since])
  const text = 'insert into gw_restores (restored_at, since) values ($1, $2) on conflict do nothing'
  await rows(tx, text, [now, since])
  return { since, at: now, repeated: before.length > 0 }
}

/**
 * Returns from when on a signed statement or a web token must have been issued: a minute after the last restore, because the database no
 * longer knows which of the older ones were used. 0: there was none.
 */
export async function acceptedFrom(db: SqlQueries): Promise<EpochMs> {
  const [row] = await rows(db, 'select max(restored_at) as at from gw_restores')
  const at = row?.['at'] ?? null
  return at === null ? 0 : toInteger(at) + CLIENT_SKEW_MS
}

/** Returns the time of the newest heartbeat in the database; undefined if no host has written one. */
export async function newestHeartbeat(db: SqlQueries): Promise<EpochMs | undefined> {
  const [row] = await rows(db, 'select max(at) as at from gw_heartbeats')
  const at = row?.['at'] ?? null
  return at === null ? undefined : toInteger(at)
}
