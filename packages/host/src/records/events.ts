import { laneOfAccount } from '@gatewright/session-issuer/internal'
import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { defer, toInteger, toText } from '@gatewright/kernel/internal/sql'
import { group, instant, integer, named, nullable, position, text } from './columns.ts'
import { deleteDue } from './delete-due.ts'
import { newId } from './new-id.ts'
import { table, type PageOf, type Row } from './table.ts'

/** The row of an account that an event is about: its kind, such as `card`, and its id. */
export interface Subject {
  readonly kind: string
  readonly id: string
}

/** One change of something that an account owns. */
export interface NewEvent {
  readonly accountId: string
  readonly subject: Subject
  /** The state before the change; null for the first event of a subject, and for an event that changes no state. */
  readonly from?: string | null
  /** The state after the change; null for an event that changes no state. */
  readonly to?: string | null
  /** Why the change happened, in one word, such as `submitted` or `operator`. */
  readonly cause: string
  readonly amountCents?: number | null
  /** A detail such as a transaction hash. Clients can see it, so it must not contain personal data or secrets. */
  readonly detail?: string | null
  /**
   * Whether its subject cannot have an event yet, because no subject ever had its id. It gets the number 1 without a look at earlier ones; if
   * there are any, the transaction fails. Default false.
   */
  readonly isFirst?: boolean
  /** Whether it is kept for good because later decisions read it. Default: it is deleted `EVENT_DAYS` after it happened. */
  readonly keep?: boolean
}

/** The events of all accounts. An event is an entry in the history of its subject and a notification of its account. */
const records = table('gw_events', {
  id: text,
  /** Grows with each event of the table; pages are read by it. */
  position,
  accountId: text,
  subject: group({ kind: named('subject_kind', text), id: named('subject_id', text) }),
  /** Counts the events of its subject from 1, without gaps; the oldest are deleted some time later. */
  number: integer,
  from: named('from_status', nullable(text)),
  to: named('to_status', nullable(text)),
  cause: text,
  amountCents: nullable(integer),
  detail: nullable(text),
  at: instant,
  /** When the account first read the event; null while it is unread. */
  readAt: nullable(instant),
})
/** A stored event. */
export type RecordedEvent = Row<typeof records>

/** How many of a subject's latest events a list shows, because their number is not bounded. */
export const MAX_HISTORY = 20

/**
 * The number of lanes of events that wait to be published, each in its own order. All events of an account have the same lane. It is
 * part of the stored format: the positions of readers name a position in each lane.
 */
export const EVENT_LANES = 16

/** The lane of an account: that of the revocation feed, which has twice as many. Lanes have equally many accounts. */
const eventLaneOf = (accountId: string): number => laneOfAccount(accountId) % EVENT_LANES

const COLUMNS =
  '(id, account_id, subject_kind, subject_id, number, from_status, to_status, cause, amount_cents, detail, at, kept)'
const INSERT_FIRST = `insert into gw_events ${COLUMNS}
  values ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, $10, $11)`
const INSERT = `insert into gw_events ${COLUMNS}
  select cast($1 as text), cast($2 as text), cast($3 as text), cast($4 as text), coalesce(max(number), 0) + 1,
    cast($5 as text), cast($6 as text), cast($7 as text), cast($8 as bigint), cast($9 as text), cast($10 as bigint),
    cast($11 as integer)
  from gw_events where account_id = $2 and subject_kind = $3 and subject_id = $4`
const INSERT_ONCE = `${INSERT_FIRST} on conflict (account_id, subject_kind, subject_id, number) do nothing`
const MARK = `update gw_events set read_at =
    case when cast($1 as bigint) is null then null else coalesce(read_at, cast($1 as bigint)) end
  where account_id = $2 and id = $3 returning ${records.columns}`

/** Lets an event wait to be published, if it was recorded. The parameters are its lane, its account and its id. */
const WAIT = `insert into gw_waiting_events (lane, position, account_id)
  select cast($1 as integer), position, account_id from gw_events where account_id = $2 and id = $3`
const WAITING = `select w.account_id as waiting_account, w.position as waiting_position, e.*
  from gw_waiting_events w left join gw_events e on e.account_id = w.account_id and e.position = w.position
  where w.lane = $1 order by w.position limit $2`
const END_WAIT = 'delete from gw_waiting_events where lane = $1 and position = $2 and account_id = $3'

const MARK_OLDEST = `update gw_events set read_at = $1 where account_id = $2 and read_at is null
  and position in (select position from gw_events where account_id = $2 and read_at is null order by position limit $3)
  returning id`

const COUNT_UNREAD = `select count(*) as n
  from (select position from gw_events where account_id = $1 and read_at is null limit $2) unread`

// Not by (account_id, position): SQLite finds no row by a unique index that contains the rowid.
const OLD_EVENTS = { table: 'gw_events', key: 'account_id, id', at: 'at', only: 'kept = 0' }

/** Inserts an event and lets it wait, in the round trip of the next statement. */
async function insert(
  tx: SqlQueries,
  text: string,
  {
    accountId,
    subject,
    from = null,
    to = null,
    cause,
    amountCents = null,
    detail = null,
    keep = false,
  }: Omit<NewEvent, 'isFirst'>,
  now: EpochMs,
): Promise<void> {
  const { kind, id: subjectId } = subject
  const id = newId('evt')
  const kept = Number(keep)
  await defer(tx, text, [id, accountId, kind, subjectId, from, to, cause, amountCents, detail, now, kept])
  await defer(tx, WAIT, [eventLaneOf(accountId), accountId, id])
}

/** Reads and writes the events of all accounts. One table serves as history and as notifications. */
export const events = {
  /** Returns a page of the account's events. */
  page: records.page,
  /**
   * Records an event in the transaction of its change, in the round trip of the next statement. Lock the row of the subject before: two concurrent events would get
   * the same number.
   */
  async record(tx: SqlQueries, { isFirst = false, ...event }: NewEvent, now: EpochMs): Promise<void> {
    await insert(tx, isFirst ? INSERT_FIRST : INSERT, event, now)
  },
  /**
   * Records the only event of its subject, as `record` does. If the subject has an event, nothing is recorded; of two at once one is. Needs no
   * lock.
   */
  async recordOnce(tx: SqlQueries, event: Omit<NewEvent, 'isFirst'>, now: EpochMs): Promise<void> {
    await insert(tx, INSERT_ONCE, event, now)
  },
  /** Returns the lanes in which events wait to be published. */
  async waitingLanes(db: SqlQueries): Promise<number[]> {
    const found = await rows(db, 'select distinct lane from gw_waiting_events order by lane')
    return found.map(row => toInteger(row['lane']))
  },
  /**
   * Ends the wait of events in a lane, `limit` at most, and returns them in the order in which they were recorded. Events that were deleted
   * while they waited are left out. Lock the lane before: who holds it is the only one that takes its events.
   */
  async takeWaiting(tx: SqlQueries, lane: number, limit: number): Promise<RecordedEvent[]> {
    const found = await rows(tx, WAITING, [lane, limit])
    for (const row of found)
      await defer(tx, END_WAIT, [lane, toInteger(row['waiting_position']), toText(row['waiting_account'])])
    return found.filter(row => row['id'] !== null).map(records.read)
  },
  /** Returns the events of a subject, oldest first. */
  history(db: SqlQueries, accountId: string, { kind, id }: Subject): Promise<RecordedEvent[]> {
    const ofSubject = 'where account_id = $1 and subject_kind = $2 and subject_id = $3 order by number'
    return records.select(db, ofSubject, [accountId, kind, id])
  },
  /** Returns the last `MAX_HISTORY` events of each of several subjects of one kind by subject id, oldest first. */
  async histories(
    db: SqlQueries,
    accountId: string,
    kind: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, readonly RecordedEvent[]>> {
    const found = new Map<string, RecordedEvent[]>(ids.map(id => [id, []]))
    if (ids.length === 0) return found
    const places = ids.map((_, index) => `$${index + 4}`).join(', ')
    const text = `select * from (
        select gw_events.*, row_number() over (partition by subject_id order by number desc) as place
        from gw_events where account_id = $1 and subject_kind = $2 and subject_id in (${places})) numbered
      where place <= $3 order by number`
    for (const row of await rows(db, text, [accountId, kind, MAX_HISTORY, ...ids]))
      found.get(toText(row['subject_id']))?.push(records.read(row))
    return found
  },
  /** Counts the unread events of an account, up to `most`: an account may have millions. */
  async unreadCount(db: SqlQueries, accountId: string, most: number): Promise<number> {
    return toInteger((await rows(db, COUNT_UNREAD, [accountId, most]))[0]?.['n'])
  },
  /** Returns a page of the account's unread events. */
  unread(db: SqlQueries, accountId: string, { after, limit }: PageOf): Promise<RecordedEvent[]> {
    const conditions = `where account_id = $1 and position < $2 and read_at is null order by position desc limit $3`
    return records.select(db, conditions, [accountId, after === 0 ? Number.MAX_SAFE_INTEGER : after, limit])
  },
  /** Marks the oldest unread events of an account as read, and returns how many. An event that is marked meanwhile keeps its `readAt`. */
  async markOldest(tx: SqlQueries, accountId: string, most: number, readAt: EpochMs): Promise<number> {
    return (await rows(tx, MARK_OLDEST, [readAt, accountId, most])).length
  },
  /**
   * Marks an event as read, or as unread with null. An event that is already read keeps its first `readAt`. Returns undefined for
   * an unknown id and for an event of another account.
   */
  async mark(
    db: SqlQueries,
    accountId: string,
    id: string,
    readAt: EpochMs | null,
  ): Promise<RecordedEvent | undefined> {
    const [row] = await rows(db, MARK, [readAt, accountId, id])
    return row && records.read(row)
  },
  /**
   * Deletes up to `limit` events from before an instant, read or not, and resolves to their number. Those that were recorded with `keep`
   * stay. A subject whose events are all deleted is numbered from 1 again.
   */
  collect: (db: SqlQueries, limit: number, before: EpochMs): Promise<number> =>
    deleteDue(db, OLD_EVENTS, limit, before),
}
