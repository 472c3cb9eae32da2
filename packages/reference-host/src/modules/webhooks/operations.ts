import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import { textOrNull, component, instant, instantOrNull, text } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import * as examples from '../examples.ts'
import { readPlaces, START, writePlaces } from './places.ts'
import { publishedEvents } from './published-events.ts'

/** Most events of a response. */
const MAX_EVENTS = 100

const Alert = Type.Object(
  {
    policyId: text('The policy that has the limit'),
    keyId: Type.Optional(text('The key that has the policy; absent for one of a session')),
    rule: text('The member of the policy'),
    operations: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 8,
        description: 'What an entry of `limits` counts, the first of them',
      }),
    ),
    unit: Type.Enum(['cents', 'count']),
    window: Type.Enum(['day', 'week', 'month', '24h', '7d', '30d', 'total']),
    timeZone: Type.Optional(text('The time zone in which the window begins; absent for UTC')),
    limit: Type.Integer({ description: 'The most in one window' }),
    used: Type.Integer({ description: 'Spent or held then' }),
    alertAtPercent: Type.Integer({ description: 'The percentage that was reached' }),
    resetsAt: instantOrNull('From then on nothing of `used` counts any more; null: it always counts'),
  },
  component('LimitAlert', 'Of `limit.alert`: the limit, and how much of it is used'),
)
const Event = Type.Object(
  {
    type: text(
      'What happened: the kind of object, and its new status or the cause, such as `deposit.completed`',
    ),
    timestamp: instant('When it happened'),
    data: Type.Object(
      {
        eventId: text('Names the event. It is also the `webhook-id` of its deliveries'),
        userId: text("The partner's id of the user"),
        object: text('What kind of thing changed'),
        id: text('Names that thing'),
        number: Type.Integer({
          minimum: 1,
          description: 'Counts the events of that thing without gaps. The highest number is the latest',
        }),
        status: textOrNull('The status after the event; null if the event changes none'),
        previousStatus: textOrNull(
          'The status before; null for the first event, or if the event changes none',
        ),
        amountCents: Type.Optional(Type.Integer({ description: 'The amount, if there is one' })),
        currency: Type.Optional(text('The currency of the amount')),
        alert: Type.Optional(Alert),
      },
      component('PartnerEventData', 'What changed'),
    ),
  },
  component('PartnerEvent', "Something that happened to what one of the partner's users has"),
)
const List = Type.Object(
  {
    events: Type.Array(Event, { maxItems: MAX_EVENTS }),
    nextCursor: text('Pass it as `after` to read the events after these'),
  },
  component('PartnerEventList', "Events of the partner's users, oldest first. Empty: there are no more now"),
)

const example = {
  type: 'deposit.completed',
  timestamp: examples.AT,
  data: {
    eventId: 'evt_0b9fd7c1f0c44e1e8a1ab8d5c4a1f6d2',
    userId: 'user-1',
    object: 'deposit',
    id: 'dep_4f0e4e0f3c7d4d5f9a2b1c3d4e5f6a7b',
    number: 3,
    status: 'completed',
    previousStatus: 'processing',
    amountCents: 2500,
    currency: 'USD',
  },
}

const expected = 'must be the nextCursor of an earlier response'

/** `GET /partner/v1/events`: the events of the partner's users in the order in which they became visible. */
export function partnerEvents({ db }: Pick<HostServices, 'db'>): Operation {
  return operation({
    id: 'notifications.events',
    title: "List events of the partner's users, oldest first",
    details:
      'Repeat the request with `nextCursor` as `after`; an empty list means that there are no more events now. Events appear within a few seconds and are kept for 30 days. No event is skipped, whatever writes at the same time.',
    surface: 'partner',
    method: 'GET',
    paths: ['/partner/v1/events'],
    credential: 'partner-key',
    query: Type.Object({
      after: Type.Optional(
        Type.String({
          pattern: '^[0-9.]{1,300}$',
          description: '`nextCursor` of the response before. Without it: from the oldest event that is kept',
          expected,
        }),
      ),
      limit: Type.Integer({
        minimum: 1,
        maximum: MAX_EVENTS,
        default: 20,
        description: 'Most events of a response',
        expected: `must be an integer from 1 to ${MAX_EVENTS}`,
      }),
    }),
    response: List,
    example: { response: { events: [example], nextCursor: writePlaces(START) } },
    async handle({ caller, query: { after, limit } }) {
      const places = after === undefined ? START : readPlaces(after)
      if (!places) return deny('invalid_request', `after ${expected}`, { field: 'after' })
      const found = await publishedEvents.after(db, caller.accountId, places, limit)
      const events = found.events.map(({ body }) => JSON.parse(body) as object)
      return allow({
        data: { events, nextCursor: writePlaces(found.places) },
        summary: `${events.length} events.`,
      })
    },
  })
}
