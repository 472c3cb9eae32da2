import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import { deleteDue } from '../../records/delete-due.ts'
import { keptEvents, type KeptEvent } from '../../records/kept-events.ts'
import { digestOf, moneyIdOf, type AppliedEvent, type EventOutcome } from './provider-event-types.ts'

/** How long the id of a message is kept, so that a repeat is recognized. Senders repeat a message for some days. */
const MESSAGE_KEPT_MS = 30 * 86_400_000
/** How long a provider is asked to send an event again that cannot be applied yet. Then the event is kept for the operator. */
const WAIT_MS = 86_400_000

/** An event that was received. */
export interface ReceivedEvent {
  readonly provider: string
  readonly messageId: string
  readonly type: string
  readonly data: { readonly id: string }
}

/** The outcome of a received event. `kept`: it cannot be applied, and waits for the operator or its object. */
export type ReceivedOutcome = EventOutcome | 'kept'

const REMEMBER = `insert into gw_provider_messages (provider, message_id, digest, received_at) values ($1, $2, $3, $4)
  on conflict (provider, message_id) do nothing returning message_id`
const FORGET = 'delete from gw_provider_messages where provider = $1 and message_id = $2'

/** Remembers the id of a message. Of simultaneous messages with one id the first is `new`. */
async function remember(
  tx: SqlQueries,
  { provider, messageId, digest }: IdentifiedEvent,
  now: EpochMs,
): Promise<'new' | 'repeated' | 'conflict'> {
  if ((await rows(tx, REMEMBER, [provider, messageId, digest, now])).length === 1) return 'new'
  const text = 'select digest from gw_provider_messages where provider = $1 and message_id = $2'
  const [known] = await rows(tx, text, [provider, messageId])
  return known && toText(known['digest']) !== digest ? 'conflict' : 'repeated'
}

/** A received event with what identifies it. */
interface IdentifiedEvent extends ReceivedEvent {
  readonly digest: string
  readonly moneyId: string
  /** Its id while it cannot be applied yet. Reports move no single amount: equal ones are the same event, whatever their messages are. */
  readonly keptId: string
}

function identified(event: ReceivedEvent, type: AppliedEvent): IdentifiedEvent {
  const { provider, messageId, data } = event
  const digest = digestOf([event.type, data])
  const moneyId = moneyIdOf(type, data, messageId)
  const keptId = keptIdOf([provider, event.type, data.id, type.moneyId ? moneyId : digest])
  return { ...event, digest, moneyId, keptId }
}

const keptIdOf = (identity: readonly string[]): string => `kept_${digestOf(identity).slice(0, 32)}`

function keep(
  tx: SqlQueries,
  { provider, messageId, type: name, data, digest, keptId }: IdentifiedEvent,
  type: AppliedEvent,
  why: Pick<KeptEvent, 'reason' | 'receivedAt' | 'attentionAt'>,
): Promise<void> {
  const { amountCents, cardId, data: content } = type.keeps(data as never)
  return keptEvents.keep(tx, {
    ...why,
    id: why.reason === 'conflict' ? keptIdOf([keptId, messageId, digest]) : keptId,
    provider,
    type: name,
    objectId: data.id,
    messageId,
    digest,
    amountCents,
    cardId,
    data: content,
  })
}

/**
 * Applies an event once. An event that repeats the id of a message or of its money with another content is a conflict, which is kept for
 * the operator. One that cannot be applied because its object is unknown or cannot take it yet is kept too: the outcomes `unknown` and
 * `early` ask the provider to send it again, `kept` acknowledges it. From then on the host applies it when its object can take it
 * (`applyKept`), unless the operator has handled it before.
 */
export async function applyEvent(
  tx: SqlQueries,
  received: ReceivedEvent,
  type: AppliedEvent,
  now: EpochMs,
): Promise<ReceivedOutcome> {
  const event = identified(received, type)
  const message = await remember(tx, event, now)
  const outcome = message === 'new' ? await applyNew(tx, event, type, now) : message
  if (outcome === 'conflict')
    await keep(tx, event, type, { reason: 'conflict', receivedAt: now, attentionAt: now })
  return outcome
}

/** Applies the event of a new message. */
async function applyNew(
  tx: SqlQueries,
  event: IdentifiedEvent,
  type: AppliedEvent,
  now: EpochMs,
): Promise<ReceivedOutcome> {
  const { provider, messageId, data, digest, moneyId, keptId } = event
  const kept = await keptEvents.lock(tx, keptId)
  if (kept && kept.handledAt !== null) return 'repeated'
  if (kept && kept.digest !== digest) return 'conflict'
  const outcome = await type.apply(tx, data as never, { provider, now, moneyId })
  if (outcome !== 'unknown' && outcome !== 'early') {
    if (kept) await keptEvents.remove(tx, keptId)
    return outcome
  }
  const isKeptAtOnce = outcome === 'unknown' && type.ofUnknownObject === 'kept'
  const attentionAt = kept?.attentionAt ?? (isKeptAtOnce ? now : now + WAIT_MS)
  const reason = outcome === 'early' ? 'too_early' : 'unknown_object'
  if (!kept) await keep(tx, event, type, { reason, receivedAt: now, attentionAt })
  if (attentionAt <= now) return 'kept'
  // So that the same message is applied when it is sent again.
  await rows(tx, FORGET, [provider, messageId])
  return outcome
}

/**
 * Applies the events about an object that were acknowledged and kept, the oldest first, until none of the rest can be applied. Call it
 * when an object was made or can take more, in the transaction that locks it. Resolves to whether it applied any.
 */
export async function applyKept(
  tx: SqlQueries,
  object: Pick<KeptEvent, 'provider' | 'objectId'>,
  types: Readonly<Record<string, AppliedEvent>>,
  now: EpochMs,
): Promise<boolean> {
  let open = await keptEvents.acknowledged(tx, object, now)
  const count = open.length
  for (let before = -1; open.length !== before; ) {
    before = open.length
    const rest: KeptEvent[] = []
    for (const kept of open) {
      const type = types[kept.type]
      const moneyId = type && moneyIdOf(type, kept.data, kept.messageId)
      const at = { provider: kept.provider, now, moneyId: moneyId as string }
      const outcome = type && (await type.apply(tx, kept.data as never, at))
      if (outcome === 'applied' || outcome === 'ignored' || outcome === 'repeated')
        await keptEvents.remove(tx, kept.id)
      else rest.push(kept)
    }
    open = rest
  }
  return open.length < count
}

/** Deletes up to `limit` message ids that are older than `MESSAGE_KEPT_MS`, and resolves to their number. */
export function collectMessages(db: SqlQueries, limit: number, now: EpochMs): Promise<number> {
  const due = { table: 'gw_provider_messages', key: 'provider, message_id', at: 'received_at' }
  return deleteDue(db, due, limit, now - MESSAGE_KEPT_MS)
}
