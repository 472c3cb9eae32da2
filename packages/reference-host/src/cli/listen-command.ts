import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { escapedLine } from '@gatewright/host/internal/commands'
import {
  type CommandArguments,
  CommandError,
  printLine,
  type StartCommand,
  UsageError,
} from '@gatewright/host/cli'
import { Webhook } from 'standardwebhooks'
import { validateEndpointUrl } from '../modules/webhooks/endpoint-url.ts'
import { webhookSender } from '../modules/webhooks/send.ts'
import { signedHeaders } from '../modules/webhooks/signed-headers.ts'
import { call, hostArgument, isPassing, rowsOf, textsOf } from './account/host-client.ts'

/** The pause after a poll, in ms, and after one with events, which others can follow at once. */
const INTERVAL_MS = 1000
const MORE_MS = 100
const PAGE = 100

interface PartnerEvent {
  readonly type: string
  readonly timestamp: string
  readonly data: { readonly eventId: string; readonly id: string; readonly userId: string }
}

interface EventPage {
  readonly events: readonly PartnerEvent[]
  readonly nextCursor: string
}

/** Passes an event on. Resolves to the status of the response, or why there was none. */
type Forward = (event: PartnerEvent) => Promise<string>

/**
 * Prints the events of a partner's users as they happen, and posts each once to a server, signed as a host signs webhooks. It ends when the
 * host denies the key; when a request fails otherwise, it says so once and goes on where it was. A response of the server other than 2xx is
 * printed, and the next event follows.
 */
export const listenCommand: StartCommand = {
  name: 'listen',
  takes: ['HOST'],
  options: {
    forward:
      'post each event to this URL, signed as a webhook with WEBHOOK_SECRET or a secret that is printed',
  },
  flags: { all: 'begin with the oldest event that is kept; default: print events from now on' },
  summary:
    'For development: print the events of your users as they happen, and post them to your server. PARTNER_KEY holds the partner key',
  example: 'http://127.0.0.1:3000 --forward http://127.0.0.1:4000/webhooks',
  check: ({ positional: [host = ''], options }) => [hostArgument(host), forwardUrl(options)],
  async start({ env, args, json, progress }) {
    const host = hostArgument(args.positional[0] ?? '')
    const key = env['PARTNER_KEY']
    // The error of `fetch` for a header field that is not one would show the key.
    if (!key || !/^[!-~]+$/.test(key)) throw new CommandError('PARTNER_KEY must hold the key of a partner')
    const url = forwardUrl(args.options)
    const forward = url === undefined ? undefined : forwardTo(url, secretOf(env, progress))
    let after: string | undefined
    let isSkipping = !args.flags.has('all')
    let problem: string | undefined
    for (;;) {
      let pauseMs = INTERVAL_MS
      try {
        const { events, nextCursor } = await readPage(host, key, after)
        if (problem !== undefined) progress(`${host} answers again.`)
        problem = undefined
        for (const event of isSkipping ? [] : events) {
          const result = await forward?.(event)
          await printLine(json ? escapedLine(JSON.stringify(event)) : lineOf(event, result))
          if (json && result !== undefined && !isAccepted(result))
            progress(`${event.data.eventId} was not accepted: ${result}`)
        }
        // A cursor that stays is of a host that would send the same events for ever.
        if (events.length > 0 && nextCursor !== after) pauseMs = MORE_MS
        after = nextCursor
        if (isSkipping && events.length === 0) {
          progress(`Waiting for events of ${host}.`)
          isSkipping = false
        }
      } catch (error) {
        if (!isPassing(error)) throw error
        if (problem !== error.message) progress(`${error.message}. Trying again until it works.`)
        problem = error.message
      }
      await sleep(pauseMs)
    }
  },
}

function forwardUrl({ forward }: CommandArguments['options']): string | undefined {
  const problem = forward === undefined ? undefined : validateEndpointUrl(forward, 'sandbox')
  if (problem !== undefined) throw new UsageError(`--forward: ${problem}`)
  return forward
}

/** Returns the secret that signs: `WEBHOOK_SECRET`, or a new one, which is printed. */
function secretOf(env: NodeJS.ProcessEnv, progress: (text: string) => void): string {
  const given = env['WEBHOOK_SECRET']
  if (given) {
    if (!/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(given))
      throw new CommandError('WEBHOOK_SECRET must be whsec_ and at least 24 bytes in base64')
    return given
  }
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  progress(`WEBHOOK_SECRET=${secret} verifies the signatures. Set it here too, and it stays the same.`)
  return secret
}

function forwardTo(url: string, secret: string): Forward {
  const signers = [new Webhook(secret)]
  const send = webhookSender({ isAllowed: () => true })
  const never = new AbortController().signal
  return async event => {
    const body = JSON.stringify(event)
    const headers = signedHeaders(signers, { eventId: event.data.eventId, body }, Date.now())
    return (await send({ url, headers, body }, never)).result
  }
}

async function readPage(host: string, key: string, after: string | undefined): Promise<EventPage> {
  const cursor = after === undefined ? '' : `&after=${encodeURIComponent(after)}`
  const headers = { 'x-partner-key': key }
  const { data } = await call(host, `/partner/v1/events?limit=${PAGE}${cursor}`, { method: 'GET', headers })
  const events = rowsOf(host, data, 'events')
    .slice(0, PAGE)
    .map(row => ({
      ...row,
      ...textsOf(host, row, ['type', 'timestamp']),
      data: { ...(row['data'] as object), ...textsOf(host, row['data'], ['eventId', 'id', 'userId']) },
    }))
  return { events, ...textsOf(host, data, ['nextCursor']) }
}

const isAccepted = (result: string): boolean => result.startsWith('2')

function lineOf({ type, timestamp, data }: PartnerEvent, result: string | undefined): string {
  const { eventId, id, userId } = data
  const outcome = result === undefined ? '' : `${result.padEnd(12)}  `
  return escapedLine(`${timestamp.slice(11, 19)}  ${outcome}${type.padEnd(24)}  ${eventId}  ${id}  ${userId}`)
}
