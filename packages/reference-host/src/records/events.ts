import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlQueries,
  type SqlRow,
  type SqlDialect,
} from '@gatewright/kernel/sql'
import { newId, ownedRows, type OwnedRows } from './owned-rows.ts'

/** What an event is about: a row of the account, such as `card` and its id. */
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
  /** Such as a transaction hash. Clients can see it, so it must not contain personal data or secrets. */
  readonly detail?: string | null
}

/** A stored event. It is an entry in the history of its subject and a notification of its account. */
export interface RecordedEvent extends Required<NewEvent> {
  readonly id: string
  /** Grows with each event of the table; pages are read by it. */
  readonly position: number
  /** Counts the events of its subject from 1, without gaps. */
  readonly number: number
  readonly at: EpochMs
  /** When the account read the event first; null while it is unread. */
  readonly readAt: EpochMs | null
}

/** How many events of one subject a list shows, the last ones: nothing bounds how many there are. */
export const MOST_HISTORY = 20

/** Stores the events of all accounts in one table, which serves as history and as notifications. */
export interface EventStore extends Pick<OwnedRows<RecordedEvent>, 'page'> {
  /**
   * Records an event in the transaction of its change. Lock the row of the subject before: two concurrent events would get
   * the same number.
   */
  record(tx: SqlQueries, event: NewEvent, now: EpochMs): Promise<void>
  /** Returns the events of a subject, oldest first. */
  history(db: SqlQueries, accountId: string, subject: Subject): Promise<RecordedEvent[]>
  /** Returns the last `MOST_HISTORY` events of each of several subjects of one kind by subject id, oldest first. */
  histories(
    db: SqlQueries,
    accountId: string,
    kind: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, readonly RecordedEvent[]>>
  unreadCount(db: SqlQueries, accountId: string): Promise<number>
  /** Returns up to `limit` unread events, newest first, that are older than the position `after` (0: from the newest). */
  unread(
    db: SqlQueries,
    accountId: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<RecordedEvent[]>
  /**
   * Marks an event as read, or as unread with null. An event that is already read keeps its first `readAt`. Returns undefined for
   * an unknown id and for an event of another account.
   */
  mark(
    db: SqlQueries,
    accountId: string,
    id: string,
    readAt: EpochMs | null,
  ): Promise<RecordedEvent | undefined>
}

const INSERT = `insert into gw_events
  (id, account_id, subject_kind, subject_id, number, from_status, to_status, cause, amount_cents, detail, at)
  values ($1, $2, $3, $4,
    (select coalesce(max(number), 0) + 1 from gw_events where subject_kind = $3 and subject_id = $4),
    $5, $6, $7, $8, $9, $10)`

/** Makes the event store of a SQL database. */
export function eventStore(dialect: SqlDialect): EventStore {
  const { page } = ownedRows(dialect, 'gw_events', toEvent)
  return {
    page,
    async record(
      tx,
      { accountId, subject, from = null, to = null, cause, amountCents = null, detail = null },
      now,
    ) {
      const { kind, id } = subject
      await rows(tx, INSERT, [newId('evt'), accountId, kind, id, from, to, cause, amountCents, detail, now])
    },
    async history(db, accountId, { kind, id }) {
      const text = `select * from gw_events where subject_kind = $1 and subject_id = $2 and account_id = $3
        order by number`
      return (await rows(db, text, [kind, id, accountId])).map(toEvent)
    },
    async histories(db, accountId, kind, ids) {
      const found = new Map<string, RecordedEvent[]>(ids.map(id => [id, []]))
      if (ids.length === 0) return found
      const places = ids.map((_, index) => `$${index + 4}`).join(', ')
      const text = `select * from (
          select gw_events.*, row_number() over (partition by subject_id order by number desc) as place
          from gw_events where subject_kind = $1 and account_id = $2 and subject_id in (${places})) numbered
        where place <= $3 order by number`
      for (const row of await rows(db, text, [kind, accountId, MOST_HISTORY, ...ids]))
        found.get(toText(row['subject_id']))?.push(toEvent(row))
      return found
    },
    async unreadCount(db, accountId) {
      const text = 'select count(*) as unread from gw_events where account_id = $1 and read_at is null'
      const [row] = await rows(db, text, [accountId])
      return toInteger(row?.['unread'])
    },
    async unread(db, accountId, { after, limit }) {
      const text = `select * from gw_events where account_id = $1 and position < $2 and read_at is null
        order by position desc limit $3`
      const before = after === 0 ? Number.MAX_SAFE_INTEGER : after
      return (await rows(db, text, [accountId, before, limit])).map(toEvent)
    },
    async mark(db, accountId, id, readAt) {
      const text = `update gw_events set read_at =
          case when cast($1 as bigint) is null then null else coalesce(read_at, cast($1 as bigint)) end
        where id = $2 and account_id = $3 returning *`
      const [row] = await rows(db, text, [readAt, id, accountId])
      return row && toEvent(row)
    },
  }
}

function toEvent(row: SqlRow): RecordedEvent {
  const textOrNull = (value: unknown): string | null => (value === null ? null : toText(value))
  const integerOrNull = (value: unknown): number | null => (value === null ? null : toInteger(value))
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    subject: { kind: toText(row['subject_kind']), id: toText(row['subject_id']) },
    number: toInteger(row['number']),
    from: textOrNull(row['from_status']),
    to: textOrNull(row['to_status']),
    cause: toText(row['cause']),
    amountCents: integerOrNull(row['amount_cents']),
    detail: textOrNull(row['detail']),
    at: toInteger(row['at']),
    readAt: integerOrNull(row['read_at']),
  }
}
