import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { rowLock, toInteger } from '@gatewright/kernel/internal/sql'
import { instant, integer, json, nullable, oneOf, text } from './columns.ts'
import { deleteDue } from './delete-due.ts'
import { hostTable, type Row } from './table.ts'

/** How long an event that was handled is kept, so that its repeats are recognized. */
const HANDLED_KEPT_MS = 30 * 86_400_000
/** What was not handled. */
const OPEN = 'handled_at is null'

const keptEventTable = hostTable('gw_kept_events', {
  /** Derived from what identifies the event, so that it is kept once. */
  id: text,
  provider: text,
  type: text,
  /** The provider's id of the object. */
  objectId: text,
  messageId: text,
  digest: text,
  reason: oneOf<'unknown_object' | 'too_early' | 'conflict'>(),
  /** US cents; null if the event names none. */
  amountCents: nullable(integer),
  cardId: nullable(text),
  data: json<object>(),
  receivedAt: instant,
  /** From then on it waits for the operator. */
  attentionAt: instant,
  handledAt: nullable(instant),
  /** The operator's note about how it was handled. */
  reference: nullable(text),
})

/** An event of a provider that could not be applied. */
export type KeptEvent = Row<typeof keptEventTable>

/** The events of providers that could not be applied. */
export const keptEvents = {
  /** Keeps an event. An event with its id is kept already: changes nothing. */
  async keep(tx: SqlQueries, event: Omit<KeptEvent, 'handledAt' | 'reference'>): Promise<void> {
    await keptEventTable.insert(tx, event)
  },
  /** Finds an event and locks it until the transaction ends. */
  async lock(tx: SqlQueries, id: string): Promise<KeptEvent | undefined> {
    const [found] = await keptEventTable.select(tx, `where id = $1${rowLock(tx, 'for update')}`, [id])
    return found
  },
  /** Removes an event, because it was applied. */
  async remove(tx: SqlQueries, id: string): Promise<void> {
    await rows(tx, 'delete from gw_kept_events where id = $1', [id])
  },
  /**
   * Locks and returns the events about an object that were acknowledged and not applied, the oldest first. Leaves out those that another
   * transaction is applying.
   */
  async acknowledged(
    tx: SqlQueries,
    { provider, objectId }: Pick<KeptEvent, 'provider' | 'objectId'>,
    now: EpochMs,
  ): Promise<KeptEvent[]> {
    const conditions = `where provider = $1 and object_id = $2 and attention_at <= $3 and reason <> 'conflict' and ${OPEN}
      order by received_at, id${rowLock(tx, 'for update skip locked')}`
    return keptEventTable.select(tx, conditions, [provider, objectId, now])
  },
  /** Lists the events that wait for the operator, the newest first. */
  async open(db: SqlQueries, limit: number, now: EpochMs): Promise<KeptEvent[]> {
    const conditions = `where attention_at <= $1 and ${OPEN} order by received_at desc, id limit $2`
    return keptEventTable.select(db, conditions, [now, limit])
  },
  /** Counts the events that wait for the operator. */
  async countOpen(db: SqlQueries, now: EpochMs): Promise<number> {
    const counting = `select count(*) as n from gw_kept_events where attention_at <= $1 and ${OPEN}`
    return toInteger((await rows(db, counting, [now]))[0]?.['n'])
  },
  /**
   * Marks an event as handled by the operator: it is never applied, and its repeats change nothing. Returns it; undefined if none with
   * this id waits for the operator. Of simultaneous calls one takes effect.
   */
  async handle(tx: SqlQueries, id: string, reference: string, now: EpochMs): Promise<KeptEvent | undefined> {
    const handling = `update gw_kept_events set handled_at = $2, reference = $3
      where id = $1 and attention_at <= $2 and ${OPEN} returning ${keptEventTable.columns}`
    const [handled] = await rows(tx, handling, [id, now, reference])
    return handled && keptEventTable.read(handled)
  },
  /** Deletes up to `limit` events that were handled more than 30 days ago, and resolves to their number. */
  collect(db: SqlQueries, limit: number, now: EpochMs): Promise<number> {
    const due = { table: 'gw_kept_events', key: 'id', at: 'handled_at', only: 'handled_at is not null' }
    return deleteDue(db, due, limit, now - HANDLED_KEPT_MS)
  },
}
