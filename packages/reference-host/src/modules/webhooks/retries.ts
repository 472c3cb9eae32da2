import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { defer, toInteger } from '@gatewright/kernel/internal/sql'
import { hostTable, instant, integer, nullable, text, type Row } from '@gatewright/host/tables'

const retryTable = hostTable('gw_webhook_retries', {
  recipientId: text,
  endpointId: text,
  eventId: text,
  body: text,
  /** How often the event was sent. */
  attempts: integer,
  /** When it was sent first. */
  firstAt: instant,
  dueAt: instant,
  /** The status of the last response, or why there was none. Null: it was not sent yet. */
  lastResult: nullable(text),
})
/** An event that an endpoint has not accepted yet, or that an operator sends again. */
export type Retry = Row<typeof retryTable>
/** What identifies a retry. */
export type RetryKey = Pick<Retry, 'recipientId' | 'endpointId' | 'eventId'>

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The pauses after the attempts of an event; after the last one, a little more than three days after the first attempt, there is no other. */
export const RETRY_PAUSES_MS: readonly number[] = [
  5000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  21 * HOUR_MS,
]

const PUT = `insert into gw_webhook_retries
  (recipient_id, endpoint_id, event_id, body, attempts, first_at, due_at, last_result) values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (recipient_id, endpoint_id, event_id) do update set
    attempts = excluded.attempts, first_at = excluded.first_at, due_at = excluded.due_at, last_result = excluded.last_result`
const END = 'delete from gw_webhook_retries where recipient_id = $1 and endpoint_id = $2 and event_id = $3'

/** The events that wait for another attempt. */
export const retries = {
  /** Returns up to `limit` retries of an endpoint that are due, the earliest first. */
  due(
    db: SqlQueries,
    { recipientId, id }: { readonly recipientId: string; readonly id: string },
    limit: number,
    now: EpochMs,
  ): Promise<Retry[]> {
    const conditions =
      'where recipient_id = $1 and endpoint_id = $2 and due_at <= $3 order by due_at limit $4'
    return retryTable.select(db, conditions, [recipientId, id, now, limit])
  },
  /** Returns when the next retry of an endpoint is due. Undefined: it has none. */
  async nextAt(
    db: SqlQueries,
    { recipientId, id }: { readonly recipientId: string; readonly id: string },
  ): Promise<EpochMs | undefined> {
    const text =
      'select min(due_at) as at from gw_webhook_retries where recipient_id = $1 and endpoint_id = $2'
    const [row] = await rows(db, text, [recipientId, id])
    const at = row?.['at'] ?? null
    return at === null ? undefined : toInteger(at)
  },
  /** Stores a retry in place of what was stored of it, in the round trip of the next statement. */
  async put(tx: SqlQueries, retry: Retry): Promise<void> {
    const { recipientId, endpointId, eventId, body, attempts, firstAt, dueAt, lastResult } = retry
    await defer(tx, PUT, [recipientId, endpointId, eventId, body, attempts, firstAt, dueAt, lastResult])
  },
  /** Deletes a retry, in the round trip of the next statement. */
  async end(tx: SqlQueries, { recipientId, endpointId, eventId }: RetryKey): Promise<void> {
    await defer(tx, END, [recipientId, endpointId, eventId])
  },
  /** Lists up to `limit` retries, those due first. */
  list: (db: SqlQueries, limit: number): Promise<Retry[]> =>
    retryTable.select(db, 'order by due_at, endpoint_id, event_id limit $1', [limit]),
}
