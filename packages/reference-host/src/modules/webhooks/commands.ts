import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { HostServices } from '@gatewright/host'
import { listCommand } from '@gatewright/host/cli'
import {
  CommandError,
  isoOrNull,
  MAX_LISTED,
  UsageError,
  integerArgument,
  type Command,
  type CommandArguments,
} from '@gatewright/host/internal'
import { validateEndpointUrl } from './endpoint-url.ts'
import { endpoints, MAX_ENDPOINTS, stateOf, type Endpoint } from './endpoints.ts'
import { OPERATOR } from './publish.ts'
import { publishedEvents } from './published-events.ts'
import { retries } from './retries.ts'

type WebhookServices = Pick<HostServices, 'db' | 'clock' | 'sealer' | 'environment'>

const LATEST = 20

/** Commands on events that partners and the operator are told, and on where they are sent. */
export const commands: readonly Command<WebhookServices>[] = [
  {
    name: 'webhooks add',
    takes: ['RECIPIENT', 'URL'],
    summary: `Send the events of a partner's users, or with "${OPERATOR}" those of wallet users, to a URL`,
    example: 'ptn_4fJ2sVbXq81TzKpL https://shop.example/webhooks',
    async run({ db, sealer, clock, environment }, { positional: [recipientId = '', url = ''] }) {
      const problem = validateEndpointUrl(url, environment)
      if (problem !== undefined) throw new UsageError(problem)
      const added = await db.transaction(async tx => {
        await assertRecipient(tx, recipientId)
        return endpoints.add(tx, sealer, { recipientId, url }, clock.now())
      })
      if (!added) throw new CommandError(`${recipientId} already has ${MAX_ENDPOINTS} endpoints`)
      return {
        data: { endpointId: added.id, recipientId, url, secret: added.secret },
        lines: secretLines(`Endpoint ${added.id} of ${recipientId}`, added.secret),
      }
    },
  },
  listCommand({
    name: 'webhooks list',
    takes: [],
    summary: 'List where events are sent, and what came of the last attempt',
    example: '',
    rows: async ({ db }: WebhookServices) => (await endpoints.list(db)).map(describeEndpoint),
    columns: {
      ENDPOINT: 'endpointId',
      STATE: ({ state, disabledFor }) => (disabledFor === null ? state : `${state} (${disabledFor})`),
      LAST: ({ lastResult }) => lastResult ?? 'none',
      AT: 'lastAt',
      RECIPIENT: 'recipientId',
      URL: 'url',
    },
    dropFirst: ['RECIPIENT', 'AT'],
    empty: 'No endpoints.',
  }),
  {
    name: 'webhooks rotate',
    takes: ['ENDPOINT'],
    summary: 'Give an endpoint a new secret; for 24 hours the old one also signs',
    example: 'we_0b9fd7c1f0c44e1e8a1ab8d5c4a1f6d2',
    async run({ db, sealer, clock }, args) {
      const { id } = await endpointOf(db, args)
      const secret = await endpoints.rotate(db, sealer, id, clock.now())
      return { data: { endpointId: id, secret }, lines: secretLines(`Endpoint ${id}`, secret) }
    },
  },
  {
    name: 'webhooks disable',
    takes: ['ENDPOINT'],
    summary: 'Stop sending events to an endpoint',
    example: 'we_0b9fd7c1f0c44e1e8a1ab8d5c4a1f6d2',
    async run({ db }, args) {
      const { id } = await endpointOf(db, args)
      await endpoints.disable(db, id)
      return { data: { endpointId: id, disabled: true }, lines: [`${id} is disabled.`] }
    },
  },
  {
    name: 'webhooks enable',
    takes: ['ENDPOINT'],
    summary: 'Send events to an endpoint again, from where it was disabled',
    example: 'we_0b9fd7c1f0c44e1e8a1ab8d5c4a1f6d2',
    async run({ db, clock }, args) {
      const { id } = await endpointOf(db, args)
      await db.transaction(tx => endpoints.enable(tx, id, clock.now()))
      return { data: { endpointId: id, disabled: false }, lines: [`${id} is enabled.`] }
    },
  },
  listCommand({
    name: 'webhooks retries',
    takes: [],
    summary: `List events that an endpoint has not accepted yet, at most ${MAX_LISTED}, those due first`,
    example: '',
    rows: async ({ db }: WebhookServices) =>
      (await retries.list(db, MAX_LISTED)).map(({ endpointId, eventId, attempts, dueAt, lastResult }) => ({
        endpointId,
        eventId,
        attempts,
        dueAt: isoOrNull(dueAt),
        lastResult,
      })),
    columns: {
      EVENT: 'eventId',
      ATTEMPTS: 'attempts',
      LAST: ({ lastResult }) => lastResult ?? 'none',
      'NEXT AT': 'dueAt',
      ENDPOINT: 'endpointId',
    },
    dropFirst: ['ENDPOINT'],
    empty: 'No event waits for another attempt.',
  }),
  listCommand({
    name: 'events tail',
    takes: [],
    options: {
      recipient: `only those of this partner, or of "${OPERATOR}"`,
      limit: `how many, 1 to ${MAX_LISTED}; default ${LATEST}`,
    },
    summary: 'List the latest published events, the newest last',
    example: '--limit 50',
    check: limitOf,
    async rows({ db }: WebhookServices, args) {
      const { recipient } = args.options
      const newest = await publishedEvents.newest(db, limitOf(args), recipient)
      return newest.toReversed().map(({ eventId, recipientId, body, publishedAt }) => {
        const { type, data } = JSON.parse(body) as { type: string; data: { userId: string; id: string } }
        const { userId, id } = data
        return { eventId, recipientId, type, userId, objectId: id, publishedAt: isoOrNull(publishedAt) }
      })
    },
    columns: {
      'PUBLISHED AT': 'publishedAt',
      TYPE: 'type',
      EVENT: 'eventId',
      OBJECT: 'objectId',
      USER: 'userId',
      RECIPIENT: 'recipientId',
    },
    dropFirst: ['RECIPIENT', 'USER', 'OBJECT', 'PUBLISHED AT'],
    empty: 'No events.',
  }),
  {
    name: 'events replay',
    takes: ['EVENT'],
    options: { endpoint: 'only to this endpoint; default: to all endpoints of the event' },
    summary: 'Send an event again, with the same webhook-id',
    example: 'evt_0b9fd7c1f0c44e1e8a1ab8d5c4a1f6d2',
    async run({ db, clock }, { positional: [eventId = ''], options: { endpoint } }) {
      const sent = await replayEvent(db, eventId, { endpointId: endpoint, now: clock.now() })
      if (sent === undefined)
        throw new CommandError(`no published event ${eventId}: see gatewright events tail`)
      if (sent.length === 0) throw new CommandError(`event ${eventId} has no such endpoint`)
      return {
        data: { eventId, endpoints: sent },
        lines: sent.map(id => `${eventId} will be sent to ${id}.`),
      }
    },
  },
]

/** An endpoint in the output for operators. */
export function describeEndpoint(endpoint: Endpoint) {
  const { id, recipientId, url, disabledFor, lastAt, lastResult, failingSince } = endpoint
  return {
    endpointId: id,
    recipientId,
    url,
    state: stateOf(endpoint),
    disabledFor,
    lastAt: isoOrNull(lastAt),
    lastResult,
    failingSince: isoOrNull(failingSince),
  }
}

/**
 * Sends an event again to the endpoints of its recipient, or to one of them, at their next turn. Returns their ids; undefined if no such event is
 * kept.
 */
export async function replayEvent(
  db: SqlQueries,
  eventId: string,
  { endpointId, now }: { readonly endpointId?: string | undefined; readonly now: number },
): Promise<readonly string[] | undefined> {
  const event = await publishedEvents.find(db, eventId)
  if (!event) return undefined
  const { recipientId, body } = event
  const targets = (await endpoints.list(db)).filter(
    each => each.recipientId === recipientId && (endpointId === undefined || each.id === endpointId),
  )
  for (const { id } of targets) {
    const retry = { recipientId, endpointId: id, eventId, body }
    await retries.put(db, { ...retry, attempts: 0, firstAt: now, dueAt: now, lastResult: null })
  }
  if (targets.length > 0) await endpoints.wake(db, new Set([recipientId]), now)
  return targets.map(({ id }) => id)
}

async function assertRecipient(tx: SqlQueries, recipientId: string): Promise<void> {
  if (recipientId === OPERATOR) return
  const found = await rows(tx, 'select 1 from gw_partners where id = $1', [recipientId])
  if (found.length === 0)
    throw new CommandError(
      `no partner ${recipientId}: see gatewright partner-keys list --json, or use "${OPERATOR}"`,
    )
}

async function endpointOf(db: SqlQueries, { positional: [id = ''] }: CommandArguments): Promise<Endpoint> {
  const endpoint = await endpoints.find(db, id)
  if (!endpoint) throw new CommandError(`no endpoint ${id}: see gatewright webhooks list`)
  return endpoint
}

function limitOf({ options: { limit = String(LATEST) } }: CommandArguments): number {
  const value = integerArgument('--limit', limit, 1)
  if (value > MAX_LISTED) throw new UsageError(`--limit must be at most ${MAX_LISTED}`)
  return value
}

function secretLines(title: string, secret: string): string[] {
  return [
    title,
    `  secret  ${secret}`,
    'The secret is shown only now. It verifies the signature of each event.',
  ]
}
