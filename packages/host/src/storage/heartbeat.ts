import type { Clock, EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { deleteDue } from '../records/delete-due.ts'
import { newId } from '../records/new-id.ts'
import { recordLostHistory, type LostHistory } from './lost-history.ts'

/** How long the row of a process is kept after its last heartbeat: 14 days. */
const KEEP_MS = 14 * 86_400_000

const BEAT = `insert into gw_heartbeats (host_id, beats, at, previous_at) values ($1, 1, $2, $2)
  on conflict (host_id) do update
  set beats = gw_heartbeats.beats + 1, previous_at = gw_heartbeats.at, at = excluded.at
  returning beats, previous_at`

/** The newest heartbeat of this process that the database has acknowledged. 0 beats: none yet. */
interface Acknowledged {
  readonly hostId: string
  readonly beats: number
  readonly at: EpochMs
}

/**
 * Makes the function that writes the next heartbeat of this process to its database. A database that counts no more heartbeats than it has
 * acknowledged has lost history: it is a replica that was promoted without the last writes, a restored backup, or one of two primaries. The
 * loss is recorded in the database for all hosts, and returned; if that fails, the next call records it. A heartbeat without a reply may have been counted or not, so a higher
 * count proves nothing. Simultaneous calls share one heartbeat, because replies that overtake each other would look like a loss.
 * Faults: `ERR_STORE_*`.
 */
export function createHeartbeat(db: SqlClient, clock: Clock): () => Promise<LostHistory | undefined> {
  const start = (): Acknowledged => ({ hostId: newId('host'), beats: 0, at: clock.now() })
  let acknowledged = start()
  let unrecorded: LostHistory | undefined
  let running: Promise<LostHistory | undefined> | undefined
  /** Writes a heartbeat, and returns the loss that its count shows. */
  const count = async (): Promise<LostHistory | undefined> => {
    const now = clock.now()
    // Long before another host deletes its row as that of a host that has ended.
    if (now - acknowledged.at > KEEP_MS / 2) acknowledged = start()
    const { hostId, beats, at } = acknowledged
    const [row] = await rows(db, BEAT, [hostId, now])
    const counted = toInteger(row?.['beats'])
    if (counted > beats) {
      acknowledged = { hostId, beats: counted, at: now }
      return undefined
    }
    // A new row: if this host comes back to the other database, that one has not counted it.
    acknowledged = start()
    return {
      hostId,
      foundAt: now,
      acknowledgedAt: at,
      keptAt: counted === 1 ? null : toInteger(row?.['previous_at']),
      acceptedAt: null,
    }
  }
  const beat = async (): Promise<LostHistory | undefined> => {
    // Kept until it is recorded: the next heartbeat would hide a loss that a failed write did not record.
    unrecorded ??= await count()
    const loss = unrecorded
    if (loss === undefined) return undefined
    await recordLostHistory(db, loss)
    unrecorded = undefined
    return loss
  }
  return () => {
    running ??= beat().finally(() => {
      running = undefined
    })
    return running
  }
}

/** Deletes up to `limit` rows of processes that have ended, and resolves to their number. */
export function collectHeartbeats(db: SqlQueries, limit: number, now: EpochMs): Promise<number> {
  return deleteDue(db, { table: 'gw_heartbeats', key: 'host_id', at: 'at' }, limit, now - KEEP_MS)
}
