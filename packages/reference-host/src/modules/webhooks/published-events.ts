import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { EVENT_LANES } from '@gatewright/host/internal'
import { hostTable, instant, integer, text, type Row } from '@gatewright/host/tables'
import type { Places } from './places.ts'

const published = hostTable('gw_published_events', {
  /** A partner, or `OPERATOR`. */
  recipientId: text,
  lane: integer,
  position: integer,
  eventId: text,
  /** The JSON text that is sent: the same bytes on every attempt. */
  body: text,
  publishedAt: instant,
})
/** An event as its recipient reads it. */
export type Published = Row<typeof published>

/** Some events, and the places after them. */
export interface EventsAfter {
  readonly events: readonly Published[]
  readonly places: Places
}

/** How long published events can be read, in ms: 30 days. */
const PUBLISHED_MS = 30 * 86_400_000

/** Most events of one lane among those of one read: few, so that a read of all lanes stays small. */
const perLane = (limit: number): number => Math.min(limit, Math.max(8, Math.ceil(limit / 4)))

const laneQuery = (lane: number): string => `select * from (
  select * from gw_published_events where recipient_id = $1 and lane = ${lane} and position > $${lane + 3}
  order by position limit $2) lane_${lane}`
const AFTER = Array.from({ length: EVENT_LANES }, (_, lane) => laneQuery(lane)).join(' union all ')

const INSERT = `insert into gw_published_events (recipient_id, lane, position, event_id, body, published_at)
  values ($1, $2, $3, $4, $5, $6)`

/** The events that partners and the operator are told. */
export const publishedEvents = {
  /** The text that adds an event, for `defer`; its parameters are the columns in the order of the table. */
  insertText: INSERT,
  /**
   * Returns up to `limit` events of a recipient after some places, the oldest first, and the places after them. An empty
   * list means that there are no more now. Later calls that pass the returned places get every event that was not returned yet.
   */
  async after(db: SqlQueries, recipientId: string, places: Places, limit: number): Promise<EventsAfter> {
    const found = (await rows(db, AFTER, [recipientId, perLane(limit), ...places])).map(published.read)
    const events = oldestFirst(found).slice(0, limit)
    const reached = [...places]
    for (const { lane, position } of events) reached[lane] = position
    return { events, places: reached }
  },
  /** Returns the places after all events of a recipient that exist now. */
  async end(db: SqlQueries, recipientId: string): Promise<Places> {
    const text =
      'select lane, max(position) as position from gw_published_events where recipient_id = $1 group by lane'
    const found = await rows(db, text, [recipientId])
    const last = new Map(found.map(row => [toInteger(row['lane']), toInteger(row['position'])]))
    return Array.from({ length: EVENT_LANES }, (_, lane) => last.get(lane) ?? 0)
  },
  /** Finds an event of any recipient by its id: one at most, since an account has one recipient. */
  async find(db: SqlQueries, eventId: string): Promise<Published | undefined> {
    const [event] = await published.select(db, 'where event_id = $1', [eventId])
    return event
  },
  /** Returns the newest events of all recipients, or of one, the newest first. */
  newest(db: SqlQueries, limit: number, recipientId?: string): Promise<Published[]> {
    return recipientId === undefined
      ? published.select(db, 'order by published_at desc, lane, position desc limit $1', [limit])
      : published.select(
          db,
          'where recipient_id = $2 order by published_at desc, lane, position desc limit $1',
          [limit, recipientId],
        )
  },
  /** Deletes up to `limit` events that are kept no longer, and returns their number. */
  async collect(db: SqlQueries, limit: number, now: EpochMs): Promise<number> {
    const text = `delete from gw_published_events where (recipient_id, lane, position) in (
      select recipient_id, lane, position from gw_published_events where published_at < $1 order by published_at limit $2)
      returning 1`
    return (await rows(db, text, [now - PUBLISHED_MS, limit])).length
  },
}

/** Sorts events by time. The events of a lane stay in the order of their positions, also where the clocks of hosts disagree. */
function oldestFirst(found: readonly Published[]): Published[] {
  const latest = new Map<number, EpochMs>()
  const timed = found
    .toSorted((a, b) => a.lane - b.lane || a.position - b.position)
    .map(event => {
      const at = Math.max(event.publishedAt, latest.get(event.lane) ?? 0)
      latest.set(event.lane, at)
      return { event, at }
    })
  return timed.toSorted((a, b) => a.at - b.at).map(({ event }) => event)
}
