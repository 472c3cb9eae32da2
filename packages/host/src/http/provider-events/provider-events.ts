import { allow, type Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { compileSchema } from '../../schemas/check.ts'
import { closed } from '../../schemas/closed.ts'
import { component, text } from '../../schemas/fields.ts'
import { applyEvent, type ReceivedOutcome } from './apply-event.ts'
import { deny, type HostDenial } from '../codes.ts'
import { operation, type Operation } from '../operations/operation.ts'
import type { DecisionResponse, EventType } from './provider-event-types.ts'

/** The services that the endpoint uses. */
export interface ProviderEventServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly eventTypes: Readonly<Record<string, EventType>>
  readonly countEvent: (type: string, outcome: ReceivedOutcome | DecisionResponse['outcome']) => void
  /** Receives conflicts, and events that are kept. */
  readonly report: (error: unknown) => void
}

const Body = Type.Object(
  {
    type: Type.String({ pattern: '^[a-z_]+\\.[a-z_]+$', description: 'What happened, such as `kyc.report`' }),
    /** Standard Webhooks recommends it. The signed one in the header counts. */
    timestamp: Type.Optional(Type.Unknown()),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  { ...component('ProviderEvent', 'An event of a provider'), additionalProperties: false },
)

/** The outcomes that a response names. Of `unknown` and `early` the response is a 404. */
const OUTCOMES = ['applied', 'ignored', 'repeated', 'conflict', 'kept', 'unavailable'] as const

/** The schema of the response: with the decisions of those event types that ask for one. */
function responseOf(eventTypes: readonly EventType[]): Type.TObject {
  const decisions = [...new Set(eventTypes.flatMap(each => ('decide' in each ? [each.decision] : [])))]
  const decision = decisions.length > 1 ? Type.Union(decisions) : decisions[0]
  const applied = Type.Boolean({ description: 'Whether this message changed something' })
  const outcome = Type.Enum([...OUTCOMES], {
    description:
      '`ignored`: outdated, or a payment that cannot be credited. `repeated`: received before. `conflict`: an id was received before with another content. `kept`: for the operator, or until its object exists. `unavailable`: not decided in time',
  })
  const data = decision
    ? Type.Object({ applied, outcome, decision: Type.Optional(decision) })
    : Type.Object({ applied, outcome })
  return Type.Object(
    { ok: Type.Boolean(), data },
    component('ProviderEventResponse', 'The outcome of an event'),
  )
}

const unknownObject: HostDenial = deny('not_found', 'this host has no such object of this provider')
const tooEarly: HostDenial = deny(
  'not_found',
  'the object cannot take this event yet: send it again after the event that must come before it',
)

/** `POST /providers/{name}/events`: applies each event of a provider once. */
export function providerEvents(services: ProviderEventServices): Operation {
  const { db, clock, eventTypes, countEvent, report } = services
  const checks = new Map(
    Object.entries(eventTypes).map(([type, { data }]) => [type, compileSchema(closed(data))] as const),
  )
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
      response: { ok: true, data: { applied: true, outcome: 'applied' } },
    },
    async handle({ caller: { provider, messageId }, body: { type, data } }) {
      const known = Object.hasOwn(eventTypes, type) ? eventTypes[type] : undefined
      if (!known)
        return deny('invalid_request', `type ${type} is not an event type of this host`, { field: 'type' })
      const problem = checks.get(type)?.(data)
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
          document: { ok: true, data: { applied: outcome === 'applied', outcome, decision } },
          headers: [],
        })
      }
      const event = { provider, messageId, type, data: data as { id: string } }
      const outcome = await db.transaction(tx => applyEvent(tx, event, known, now))
      countEvent(type, outcome)
      if (outcome === 'unknown') return unknownObject
      if (outcome === 'early') return tooEarly
      if (outcome === 'conflict' || outcome === 'kept') report(new Error(reportOf(event, outcome)))
      return allow({
        document: { ok: true, data: { applied: outcome === 'applied', outcome } },
        headers: [],
      })
    },
  })
}

/** Says for the log what the operator must look at. */
function reportOf(
  { provider, messageId, type, data: { id } }: Parameters<typeof applyEvent>[1],
  outcome: 'conflict' | 'kept',
): string {
  const message = `${provider} sent ${type} about ${id} as message ${messageId}`
  return outcome === 'conflict'
    ? `${message}, with an id that it gave to another content; nothing was applied, see npx gatewright provider-events list`
    : `${message}, which cannot be applied; it was kept, see npx gatewright provider-events list`
}
