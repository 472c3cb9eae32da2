import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'

/** A heartbeat that the database had acknowledged and no longer has. It has lost other writes of that time as well. */
export interface LostHistory {
  /** The process that wrote the heartbeat. */
  readonly hostId: string
  readonly foundAt: EpochMs
  /** When the newest acknowledged heartbeat was written. */
  readonly acknowledgedAt: EpochMs
  /** When the newest heartbeat was written that the database still has; null if it has none of this process. */
  readonly keptAt: EpochMs | null
  /** When an operator accepted the loss; null: not yet. */
  readonly acceptedAt: EpochMs | null
}

/** Two primaries that take turns are found again at each heartbeat. More rows say nothing new. */
const MOST_OPEN = 100

const RECORD = `insert into gw_lost_history (host_id, found_at, acknowledged_at, kept_at)
  select $1, cast($2 as bigint), cast($3 as bigint), cast($4 as bigint)
  where (select count(*) from gw_lost_history where accepted_at is null) < ${MOST_OPEN}
  on conflict (host_id) do nothing`

/** Records a loss for all hosts of the database. */
export async function recordLostHistory(
  db: SqlQueries,
  { hostId, foundAt, acknowledgedAt, keptAt }: LostHistory,
): Promise<void> {
  await rows(db, RECORD, [hostId, foundAt, acknowledgedAt, keptAt])
}

/** Lists losses, the newest first. `open`: only those that no operator has accepted. */
export async function listLostHistory(
  db: SqlQueries,
  limit: number,
  which: 'all' | 'open' = 'all',
): Promise<readonly LostHistory[]> {
  const found = await rows(
    db,
    `select host_id, found_at, acknowledged_at, kept_at, accepted_at from gw_lost_history
      ${which === 'open' ? 'where accepted_at is null' : ''} order by found_at desc, host_id limit $1`,
    [limit],
  )
  const instant = (value: unknown): EpochMs | null => (value === null ? null : toInteger(value))
  return found.map(row => ({
    hostId: toText(row['host_id']),
    foundAt: toInteger(row['found_at']),
    acknowledgedAt: toInteger(row['acknowledged_at']),
    keptAt: instant(row['kept_at']),
    acceptedAt: instant(row['accepted_at']),
  }))
}

/** Counts the losses that no operator has accepted. */
export async function countOpenLosses(db: SqlQueries): Promise<number> {
  const [row] = await rows(db, 'select count(*) as n from gw_lost_history where accepted_at is null')
  return toInteger(row?.['n'])
}

/** Accepts all losses, and resolves to how many there were. Of two operators at once each loss counts for one. */
export async function acceptLostHistory(db: SqlQueries, now: EpochMs): Promise<number> {
  const text = 'update gw_lost_history set accepted_at = $1 where accepted_at is null returning host_id'
  return (await rows(db, text, [now])).length
}
