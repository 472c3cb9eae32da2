import express, { type Express } from 'express'
import { gatewright as onExpress, type ExpressGatewright } from 'gatewright/express'
import { gatewright as onFetch, type FetchGatewright } from 'gatewright/fetch'
import { createWorld, listening, type World } from '../../world.ts'

/** When a mistake shows: when the server starts, at the first request that it concerns, or never, because no code can know it. */
export type Shows = 'at start' | 'at the first request' | 'never'

/** A mistake that a team may make when it adopts the package. */
export interface Mistake {
  readonly mistake: string
  readonly shows: Shows
  /** What an error of the start, a line of the log or the first response says. Of one that never shows: what its check in docs/mistakes.md names. */
  readonly says: RegExp
  /** Makes the mistake. Returns the first request that it concerns, if the server starts. */
  make(trial: Trial): unknown
}

type Shown = (mistake: string, says: RegExp, make: Mistake['make']) => Mistake
/** Makes a mistake that shows when the server starts. */
export const atStart: Shown = (mistake, says, make) => ({ mistake, shows: 'at start', says, make })
/** Makes a mistake that shows at the first request that it concerns. */
export const firstRequest: Shown = (mistake, says, make) => ({
  mistake,
  shows: 'at the first request',
  says,
  make,
})

/** A request as a trial sends it. */
export interface Sent {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** A server of one mistake, and what its team gets to see. */
export interface Trial {
  readonly world: World
  readonly lines: string[]
  /** The options of a server that is right, with changes. */
  options(changes?: object): World['options']
  /** A server with `fetch`. */
  fetch(changes?: object): FetchGatewright<string, unknown>
  /** Sends a payment to a handler of `fetch`. */
  send(handler: (request: Request, env: unknown) => Promise<Response>, sent?: Sent): Promise<Response>
  /** Starts an application of Express, and returns the function that sends a payment to it. */
  express(
    mount: (app: Express, gw: ExpressGatewright<string>) => void,
    changes?: object,
  ): Promise<(sent?: Sent) => Promise<Response>>
  /** Sends a payment to a server that listens at an address. */
  sendTo(url: string, sent?: Sent): Promise<Response>
  /** Runs when the trial is over. */
  after(close: () => unknown): void
}

export const WRITE = { scope: 'payments.write' } as const
export const paid = (): { status: number; body: object } => ({ status: 201, body: {} })
export const usd = (amountCents: unknown): { amountCents: number; currency: string } => ({
  amountCents: amountCents as number,
  currency: 'USD',
})

function trialOf(lines: string[], closes: (() => unknown)[]): Trial {
  const world = createWorld()
  const gate = {
    hint: (line: string) => void lines.push(line),
    report: ({ error }: { error: unknown }) => {
      const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
      lines.push(String(error) + cause)
    },
  }
  const options = (changes: { gate?: object } = {}) => {
    const given = { ...world.options, ...changes, gate: { ...gate, ...changes.gate } }
    // `undefined` leaves an option out.
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
  }
  const request = async ({
    method = 'POST',
    path = '/payments',
    body = '{"amountCents":100}',
    headers,
  }: Sent) => {
    const given = {
      authorization: `Bearer ${await world.token('payments.read payments.write')}`,
      'idempotency-key': 'the-same-key',
      'content-type': 'application/json',
      ...headers,
    }
    const sent = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const hasBody = method !== 'GET' && method !== 'HEAD'
    return { path, init: { method, headers: sent, ...(hasBody ? { body } : {}) } }
  }
  const trial: Trial = {
    world,
    lines,
    options,
    fetch: (changes = {}) => onFetch({ peer: 'none', ...(options(changes) as object) } as never),
    async send(handler, sent = {}) {
      const { path, init } = await request(sent)
      return handler(new Request(`https://api.example${path}`, init), undefined)
    },
    async express(mount, changes) {
      const app = express()
      // Its own handler prints errors.
      app.set('env', 'test')
      mount(app, onExpress(options(changes as never)))
      const server = await listening(app.listen(0, '127.0.0.1'))
      closes.push(() => server.close())
      return sent => trial.sendTo(server.url, sent)
    },
    async sendTo(url, sent = {}) {
      const { path, init } = await request(sent)
      return fetch(url + path, init)
    },
    after: close => void closes.push(close),
  }
  return trial
}

/** What a team saw of a mistake. */
interface Seen {
  readonly shows: Shows
  /** The text that matches, or all that was seen. */
  readonly text: string
}

/** Makes a mistake, and returns when and with what words it showed. */
export async function tried({ says, make }: Mistake): Promise<Seen> {
  const lines: string[] = []
  const closes: (() => unknown)[] = []
  const onWarning = ({ message }: Error): void => void lines.push(message)
  process.on('warning', onWarning)
  const found = async (): Promise<string | undefined> => {
    // Warnings are emitted in the next tick.
    await new Promise(setImmediate)
    return lines.find(line => says.test(line))
  }
  try {
    let request: unknown
    try {
      request = await make(trialOf(lines, closes))
    } catch (error) {
      lines.push(String(error))
    }
    const text = await found()
    if (text !== undefined) return { shows: 'at start', text }
    if (typeof request === 'function') {
      const response = (await request()) as Response | undefined
      if (response) lines.push(`${response.status} ${await response.text()}`)
    }
    const later = await found()
    return later === undefined
      ? { shows: 'never', text: lines.join('\n') }
      : { shows: 'at the first request', text: later }
  } finally {
    process.off('warning', onWarning)
    for (const close of closes.toReversed()) await close()
  }
}
