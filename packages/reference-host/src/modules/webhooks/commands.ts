import { setTimeout as sleep } from 'node:timers/promises'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { HostServices } from '@gatewright/host'
import {
  listCommand,
  type Command,
  CommandError,
  UsageError,
  printLine,
  type CommandArguments,
} from '@gatewright/host/cli'
import { isoOrNull, MAX_LISTED, integerArgument } from '@gatewright/host/internal'
import { escapedLine } from '@gatewright/host/internal/commands'
import { validateEndpointUrl } from './endpoint-url.ts'
import { endpoints, MAX_ENDPOINTS, type Endpoint } from './endpoints.ts'
import { describeEndpoint, describeRetry, recordAction, replayEvent } from './for-operators.ts'
import { OPERATOR } from './publish.ts'
import { publishedEvents, type Published } from './published-events.ts'
import { retries } from './retries.ts'

type WebhookServices = Pick<HostServices, 'db' | 'clock' | 'sealer' | 'environment'>

const LATEST = 20
/** How often `events tail --follow` looks for new events, and how many it finds at most. */
const FOLLOW_MS = 1000
const FOLLOWED = 500

const listLatest = listCommand({
  name: 'events tail',
  takes: [],
  options: {
    recipient: `only those of this partner, or of "${OPERATOR}"`,
    limit: `how many, 1 to ${MAX_LISTED}; default ${LATEST}`,
  },
  flags: { follow: 'go on: print each event as a line of JSON, also those that are published from now on' },
  summary: 'List the latest published events, the newest last',
  example: '--limit 50',
  check: limitOf,
  async rows({ db }: WebhookServices, args) {
    const newest = await publishedEvents.newest(db, limitOf(args), args.options['recipient'])
    return newest.toReversed().map(describeEvent)
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
})

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
        const made = await endpoints.add(tx, sealer, { recipientId, url }, clock.now())
        // Not the URL, which may hold a secret of its owner.
        if (made) await recordAction(tx, 'webhooks add', `${made.id} of ${recipientId}`, clock.now())
        return made
      })
      if (!added) throw new CommandError(`${recipientId} already has ${MAX_ENDPOINTS} endpoints`)
      return {
        data: { endpointId: added.id, recipientId, url, secret: added.secret },
        lines: secretLines(`Endpoint ${added.id} of ${recipientId}`, added.secret),
        ifUnprinted: lostSecretOf(added.id),
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
      const secret = await db.transaction(async tx => {
        await recordAction(tx, 'webhooks rotate', id, clock.now())
        return endpoints.rotate(tx, sealer, id, clock.now())
      })
      const lines = secretLines(`Endpoint ${id}`, secret)
      return { data: { endpointId: id, secret }, lines, ifUnprinted: lostSecretOf(id) }
    },
  },
  {
    name: 'webhooks disable',
    takes: ['ENDPOINT'],
    summary: 'Stop sending events to an endpoint',
    example: 'we_0b9fd7c1f0c44e1e8a1ab8d5c4a1f6d2',
    async run({ db, clock }, args) {
      const { id } = await endpointOf(db, args)
      await db.transaction(async tx => {
        await recordAction(tx, 'webhooks disable', id, clock.now())
        await endpoints.disable(tx, id)
      })
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
      await db.transaction(async tx => {
        await recordAction(tx, 'webhooks enable', id, clock.now())
        await endpoints.enable(tx, id, clock.now())
      })
      return { data: { endpointId: id, disabled: false }, lines: [`${id} is enabled.`] }
    },
  },
  listCommand({
    name: 'webhooks retries',
    takes: [],
    summary: `List events that an endpoint has not accepted yet, at most ${MAX_LISTED}, those due first`,
    example: '',
    rows: async ({ db }: WebhookServices) => (await retries.list(db, MAX_LISTED)).map(describeRetry),
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
  {
    ...listLatest,
    run: (services, args) =>
      args.flags.has('follow') ? followEvents(services, args) : listLatest.run(services, args),
  },
  {
    name: 'events replay',
    takes: ['EVENT'],
    options: { endpoint: 'only to this endpoint; default: to all endpoints of the event' },
    summary: 'Send an event again, with the same webhook-id',
    example: 'evt_0b9fd7c1f0c44e1e8a1ab8d5c4a1f6d2',
    async run({ db, clock }, { positional: [eventId = ''], options: { endpoint } }) {
      const sent = await replayEvent(db, eventId, { endpointId: endpoint, now: clock.now() })
      if (sent === undefined)
        throw new CommandError(`no published event ${eventId}: see npx gatewright events tail`)
      if (sent.length === 0) throw new CommandError(`event ${eventId} has no such endpoint`)
      return {
        data: { eventId, endpoints: sent },
        lines: sent.map(id => `${eventId} will be sent to ${id}.`),
      }
    },
  },
]

/** Prints the latest events and those that follow, until the process is ended or the database fails. */
async function followEvents({ db }: WebhookServices, args: CommandArguments): Promise<never> {
  const { recipient } = args.options
  /** The ids of the round before. */
  let seen: ReadonlySet<string> | undefined
  for (;;) {
    const newest = await publishedEvents.newest(db, FOLLOWED, recipient)
    const unseen = seen === undefined ? newest.slice(0, limitOf(args)) : newest.filter(isNewTo(seen))
    for (const event of unseen.toReversed())
      await printLine(escapedLine(JSON.stringify(describeEvent(event))))
    seen = new Set(newest.map(({ eventId }) => eventId))
    await sleep(FOLLOW_MS)
  }
}

const isNewTo =
  (seen: ReadonlySet<string>) =>
  ({ eventId }: Published): boolean =>
    !seen.has(eventId)

/** An event in the output for operators. */
function describeEvent({ eventId, recipientId, body, publishedAt }: Published) {
  const { type, data } = JSON.parse(body) as { type: string; data: { userId: string; id: string } }
  const { userId, id } = data
  return { eventId, recipientId, type, userId, objectId: id, publishedAt: isoOrNull(publishedAt) }
}

async function assertRecipient(tx: SqlQueries, recipientId: string): Promise<void> {
  if (recipientId === OPERATOR) return
  const found = await rows(tx, 'select 1 from gw_partners where id = $1', [recipientId])
  if (found.length === 0)
    throw new CommandError(
      `no partner ${recipientId}: see npx gatewright partner-keys list --json, or use "${OPERATOR}"`,
    )
}

async function endpointOf(db: SqlQueries, { positional: [id = ''] }: CommandArguments): Promise<Endpoint> {
  const endpoint = await endpoints.find(db, id)
  if (!endpoint) throw new CommandError(`no endpoint ${id}: see npx gatewright webhooks list`)
  return endpoint
}

function limitOf({ options: { limit = String(LATEST) } }: CommandArguments): number {
  const value = integerArgument('--limit', limit, 1)
  if (value > MAX_LISTED) throw new UsageError(`--limit must be at most ${MAX_LISTED}`)
  return value
}

const lostSecretOf = (id: string): string =>
  `The new secret of endpoint ${id} was not shown. Get another: npx gatewright webhooks rotate ${id}`

function secretLines(title: string, secret: string): string[] {
  return [
    title,
    `  secret  ${secret}`,
    'The secret is shown only now. It verifies the signature of each event.',
  ]
}
