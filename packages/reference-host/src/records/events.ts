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
  /** The state before; null for the first one, and for an event that changes no state. */
  readonly from?: string | null
  readonly to?: string | null
  /** Why: one word, such as `submitted`, `operator`. */
  readonly cause: string
  readonly amountCents?: number | null
  /** For people; never personal data or secrets. */
  readonly detail?: string | null
}

/** An event as it was recorded: an entry of the subject's history and a notification of its account. */
export interface RecordedEvent extends Required<NewEvent> {
  readonly id: string
  readonly position: number
  /** Counts the events of its subject from 1, without gaps. */
  readonly number: number
  readonly at: EpochMs
  readonly readAt: EpochMs | null
}

/** The events of all accounts: history, notifications and, later, events out, in one table. */
export interface EventStore extends Pick<OwnedRows<RecordedEvent>, 'page'> {
  /** Records an event in the transaction of its change. The subject's row must be locked: two at once would get one number. */
  record(tx: SqlQueries, event: NewEvent, now: EpochMs): Promise<void>
  /** What happened to a subject, oldest first. */
  history(db: SqlQueries, accountId: string, subject: Subject): Promise<RecordedEvent[]>
  unreadCount(db: SqlQueries, accountId: string): Promise<number>
  /** Up to `limit` events that were not read, newest first, behind the position `after`. */
  unread(
    db: SqlQueries,
    accountId: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<RecordedEvent[]>
  /** Notes that the account has read an event, or that it has not; undefined for an event of another account. */
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

/** Event records in SQL. */
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
      const text = 'update gw_events set read_at = $1 where id = $2 and account_id = $3 returning *'
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
