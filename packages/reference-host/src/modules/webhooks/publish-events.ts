import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { rowLock, toInteger } from '@gatewright/kernel/internal/sql'
import { events, type RecordedEvent } from '@gatewright/host'
import { EVENT_LANES } from '@gatewright/host/internal'

/** An event with its place among the published events. */
export interface PublishedEvent extends RecordedEvent {
  readonly lane: number
  /** Grows in its lane in the order in which events become visible. Lanes have no common order. */
  readonly place: number
}

/** Writes what readers of published events read. Called in the transaction that gives the events their places. */
export type PublishEvents = (tx: SqlQueries, events: readonly PublishedEvent[]) => Promise<void>

/** Most events that one transaction publishes. */
const BATCH = 500
/** How far the places of each lane advance after a restore: more than any reader can have read in the time that is lost. */
const RESTORE_GAP = 1_000_000_000

/** Creates the lanes of events. Can be repeated. */
export async function createEventLanes(db: SqlQueries): Promise<void> {
  const all = Array.from({ length: EVENT_LANES }, (_, lane) => `(${lane}, 0)`).join(', ')
  await rows(
    db,
    `insert into gw_event_lanes (lane, position) values ${all} on conflict do nothing returning lane`,
  )
}

/**
 * Gives places to all events that wait, lane by lane, and calls `publish` for them. An event gets its place after it was committed, under the
 * lock of its lane, so that a reader who has read a place never misses an earlier one of the lane. Recording an event takes no such lock.
 * Lanes that another host publishes are skipped. Resolves to the number of events.
 */
export async function publishEvents(
  db: SqlClient,
  publish: PublishEvents,
  signal: AbortSignal,
): Promise<number> {
  let total = 0
  for (const lane of await events.waitingLanes(db)) {
    let published: number
    do {
      published = signal.aborted ? 0 : await db.transaction(tx => publishBatch(tx, lane, publish))
      total += published
    } while (published === BATCH)
  }
  return total
}

async function publishBatch(tx: SqlQueries, lane: number, publish: PublishEvents): Promise<number> {
  const lock = rowLock(tx, 'for update skip locked')
  const [row] = await rows(tx, `select position from gw_event_lanes where lane = $1${lock}`, [lane])
  if (!row) return 0
  const last = toInteger(row['position'])
  const taken = await events.takeWaiting(tx, lane, BATCH)
  if (taken.length === 0) return 0
  await publish(
    tx,
    taken.map((event, index) => ({ ...event, lane, place: last + index + 1 })),
  )
  const advance = 'update gw_event_lanes set position = $2 where lane = $1 returning lane'
  await rows(tx, advance, [lane, last + taken.length])
  return taken.length
}

/**
 * Advances the places of all lanes after the database was brought back to an earlier time: a reader may have read places that are lost, and
 * would miss new events with the same places. Repeating it does no harm.
 */
export async function skipLostPlaces(db: SqlQueries): Promise<void> {
  await rows(db, 'update gw_event_lanes set position = position + $1 returning lane', [RESTORE_GAP])
}
