import { allow } from '@gatewright/kernel'
import { deleteDue } from '../records/delete-due.ts'
import type { EpochMs } from '@gatewright/kernel/internal'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { deny, type HostDenial } from './codes.ts'
import { operation, type Operation } from './operation.ts'
import { component, text } from '../schemas/fields.ts'
import type { Clock } from '@gatewright/kernel/internal'
import type { SqlClient } from '@gatewright/kernel/sql'

/**
 * The outcome of an event: `unknown` if the host does not have its object, `ignored` if the event is outdated, repeated, not
 * allowed in the current state, or names a payment that cannot be credited.
 */
export type EventOutcome = 'applied' | 'ignored' | 'unknown'

/** The check of an event's data. */
interface CheckedEvent {
  /** Returns the first error in `data`; undefined if it is valid. */
  readonly validate: (
    data: unknown,
  ) => { readonly path: readonly string[]; readonly message: string } | undefined
}

/** The check and the application of one type of event. */
interface AppliedEvent extends CheckedEvent {
  /** Applies an event, in the transaction that also stores the id of its message. */
  apply(tx: SqlQueries, provider: string, data: never, now: EpochMs, messageId: string): Promise<EventOutcome>
}

/** The response to an event that asks for a decision. */
interface DecisionResponse {
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

/** The services that the endpoint uses. */
export interface ProviderEventServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly eventTypes: Readonly<Record<string, EventType>>
  readonly countEvent: (type: string, outcome: EventOutcome | DecisionResponse['outcome']) => void
}

const Body = Type.Object(
  {
    type: Type.String({ pattern: '^[a-z_]+\\.[a-z_]+$', description: 'What happened, such as `kyc.report`' }),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  component('ProviderEvent', 'An event of a provider'),
)

/** The schema of the response: with the decisions of those event types that ask for one. */
function responseOf(eventTypes: readonly EventType[]): Type.TObject {
  const decisions = [...new Set(eventTypes.flatMap(each => ('decide' in each ? [each.decision] : [])))]
  const decision = decisions.length > 1 ? Type.Union(decisions) : decisions[0]
  const applied = Type.Boolean({
    description:
      'False for a message that was received before, an outdated event, and a payment that cannot be credited',
  })
  const data = decision
    ? Type.Object({ applied, decision: Type.Optional(decision) })
    : Type.Object({ applied })
  return Type.Object(
    { ok: Type.Boolean(), data },
    component('ProviderEventResponse', 'The outcome of an event'),
  )
}

/** How long the id of a message is kept, so that a repeat is recognized. Senders repeat a message for some days. */
export const MESSAGE_KEPT_MS = 30 * 86_400_000

const REMEMBER = `insert into gw_provider_messages (provider, message_id, received_at) values ($1, $2, $3)
  on conflict (provider, message_id) do nothing returning message_id`

const unknownObject: HostDenial = deny('not_found', 'this host has no such object of this provider')

/** Thrown to roll back the stored message id of an event whose object is unknown, so that a repeat of the message is applied. */
class UnknownObject extends Error {}

/** `POST /providers/{name}/events`: applies each event of a provider once. */
export function providerEvents({ db, clock, eventTypes, countEvent }: ProviderEventServices): Operation {
  return operation({
    id: 'system.providerEvents',
    title: 'Take an event of a provider',
    surface: 'public',
    method: 'POST',
    paths: ['/providers/{name}/events'],
    credential: 'provider',
    body: Body,
    response: responseOf(Object.values(eventTypes)),
    document: true,
    example: {
      body: { type: 'kyc.report', data: { id: text('').type } },
      response: { ok: true, data: { applied: true } },
    },
    async handle({ caller: { provider, messageId }, body: { type, data } }) {
      const known = Object.hasOwn(eventTypes, type) ? eventTypes[type] : undefined
      if (!known)
        return deny('invalid_request', `type ${type} is not an event type of this host`, { field: 'type' })
      const problem = known.validate(data)
      if (problem)
        return deny('invalid_request', `data.${problem.message}`, {
          field: ['data', ...problem.path].join('.'),
        })
      const now = clock.now()
      if ('decide' in known) {
        const response = await known.decide(provider, data as never, now)
        countEvent(type, response?.outcome ?? 'unknown')
        if (!response) return unknownObject
        const { outcome, decision } = response
        return allow({
          document: { ok: true, data: { applied: outcome === 'applied', decision } },
          headers: [],
        })
      }
      try {
        const outcome = await db.transaction(async tx => {
          const first = await rows(tx, REMEMBER, [provider, messageId, now])
          if (first.length === 0) return 'repeated'
          const applied = await known.apply(tx, provider, data as never, now, messageId)
          if (applied === 'unknown') throw new UnknownObject()
          return applied
        })
        countEvent(type, outcome)
        return allow({ document: { ok: true, data: { applied: outcome === 'applied' } }, headers: [] })
      } catch (error) {
        if (!(error instanceof UnknownObject)) throw error
        countEvent(type, 'unknown')
        return unknownObject
      }
    },
  })
}

/** Deletes up to `limit` message ids that are older than `MESSAGE_KEPT_MS`, and resolves to their number. */
export function collectMessages(db: SqlQueries, limit: number, now: EpochMs): Promise<number> {
  const due = { table: 'gw_provider_messages', key: 'provider, message_id', at: 'received_at' }
  return deleteDue(db, due, limit, now - MESSAGE_KEPT_MS)
}
