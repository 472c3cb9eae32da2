import { hash } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type * as Type from 'typebox/type'

/**
 * The outcome of applying an event. `ignored`: it is outdated, not allowed in the current state, or names a payment that cannot be
 * credited. `repeated`: its money was received before, in this or another message. `conflict`: the id of its money was received with
 * another content, or it contradicts its object. `unknown`: the host does not have its object. `early`: its object cannot take it yet,
 * and can later. The last three change nothing.
 */
export type EventOutcome = 'applied' | 'ignored' | 'repeated' | 'conflict' | 'unknown' | 'early'

/** What the data of an event must be. */
interface CheckedEvent {
  /**
   * The schema of `data`. It is closed at any depth: an event with a member that the schema does not name is refused, because the
   * member may change what the money means.
   */
  readonly data: Type.TSchema
}

/** What is kept of an event that cannot be applied. */
interface KeptContent {
  /** US cents; null if the event names none. */
  readonly amountCents: number | null
  readonly cardId: string | null
  /** The data by which it is applied later. No personal data. */
  readonly data: object
}

/** What is known of an event besides its data. */
interface EventContext {
  readonly provider: string
  readonly now: EpochMs
  /** The id of `moneyIdOf`. */
  readonly moneyId: string
}

/** An event that changes an object. */
export interface AppliedEvent extends CheckedEvent {
  /**
   * Applies an event, in the transaction that also stores the id of its message. Must change nothing if the outcome is `conflict`,
   * `unknown` or `early`.
   */
  apply(tx: SqlQueries, data: never, at: EventContext): Promise<EventOutcome>
  /** Returns the provider's id of the money that an event moves; undefined if the event names none. Absent: it moves no single amount. */
  readonly moneyId?: (data: never) => string | undefined
  /**
   * What happens to an event whose object is unknown: `kept` with attention at once, because the object may never have existed here, or
   * `sent_again` by the provider, and kept after `WAIT_MS`.
   */
  readonly ofUnknownObject: 'kept' | 'sent_again'
  keeps(data: never): KeptContent
}

/** The response to an event that asks for a decision. */
export interface DecisionResponse {
  /**
   * `repeated`: this id was decided before, and keeps its decision. `conflict`: this id was decided before, for something else.
   * `unavailable`: the database was down or late.
   */
  readonly outcome: 'applied' | 'repeated' | 'conflict' | 'unavailable'
  /** A value of the event type's `decision`. */
  readonly decision: object
}

/** How the host responds to an event that asks for a decision. */
interface DecidedEvent extends CheckedEvent {
  /** The schema of the decision in the response. */
  readonly decision: Type.TSchema
  /** Decides once for each id in `data`, whatever the id of the message is. Undefined if the object does not exist here. */
  decide(provider: string, data: never, now: EpochMs): Promise<DecisionResponse | undefined>
}
export type EventType = AppliedEvent | DecidedEvent

/**
 * Returns what identifies the money of an event: the id in its data or, where it names none, the id of its message. The space keeps a
 * message's id apart from ids in data, which have none.
 */
export function moneyIdOf(type: Pick<AppliedEvent, 'moneyId'>, data: object, messageId: string): string {
  return type.moneyId?.(data as never) ?? `webhook-id ${messageId}`
}

/** Computes the digest of JSON data: equal for values that differ only in the order of members. */
export function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(sorted(value)))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  // Pairs, because an object would put members that look like numbers first.
  return [members.map(([name, each]) => [name, sorted(each)]), '{}']
}
