import { setTimeout as sleep } from 'node:timers/promises'
import { escapedLine } from '@gatewright/host/internal'
import { CommandError, type CommandOutput, printLine, type StartCommand } from '@gatewright/host/cli'
import { call, isPassing, rowsOf, sessionOf, textsOf } from './host-client.ts'
import { type Login, readLogin } from './login-file.ts'

const INTERVAL_MS = 2000
/** A session of a command lives a minute. */
const SESSION_MS = 45_000
/** How many requests are shown at first, and read with one call. */
const PAGE = 50
/** The pause between two pages, in ms. */
const PAGE_MS = 100
/** The most pages that are read in one round: 5,000 requests. What is older is not printed. */
const MAX_PAGES = 100

interface KeptRequest {
  readonly id: string
  readonly createdAt: string
  readonly operation: string | null
  readonly status: number
  readonly error: string | null
  readonly message: string | null
}

/** A page of requests, newest first. */
interface KeptPage {
  readonly requests: readonly KeptRequest[]
  readonly nextCursor: string | null
}

/**
 * Prints what the host decides about the requests of the account, as they happen. It ends when the host denies the key; when a poll
 * fails otherwise, it says so once and goes on with a new session.
 */
export const tailCommand: StartCommand = {
  name: 'requests tail',
  takes: [],
  flags: { once: `print the latest ${PAGE} and end` },
  summary: 'Print the requests of your account as they happen, with why they were refused',
  example: '--once',
  async start({ env, args: { flags }, json, progress }) {
    const login = await readLogin(env)
    const isShown = ({ operation }: KeptRequest): boolean => operation !== 'requests.list'
    if (flags.has('once')) {
      const { requests } = await readPage(login, await sessionOf(login))
      return table(requests.filter(isShown).toReversed())
    }
    /** The ids of the poll before. */
    let seen: ReadonlySet<string> | undefined
    let session: Session | undefined
    let problem: string | undefined
    for (;;) {
      const isNew: boolean = session === undefined || performance.now() - session.since > SESSION_MS
      try {
        session = isNew || !session ? await newSession(login) : session
        const latest = await readLatest(login, session.headers, seen)
        for (const request of latest
          .filter(each => isShown(each) && seen?.has(each.id) !== true)
          .toReversed())
          await printLine(json ? escapedLine(JSON.stringify(request)) : lineOf(request))
        seen = new Set(latest.map(({ id }) => id))
        if (problem !== undefined) progress(`${login.host} answers again.`)
        problem = undefined
      } catch (error) {
        if (!(error instanceof CommandError) || (isNew && !isPassing(error))) throw error
        if (problem !== error.message) progress(`${error.message}. Trying again until it works.`)
        problem = error.message
        session = undefined
      }
      await sleep(INTERVAL_MS)
    }
  },
}

type Headers = Readonly<Record<string, string>>

interface Session {
  readonly headers: Headers
  /** When it was created, on the clock of `performance.now()`. */
  readonly since: number
}

async function newSession(login: Login): Promise<Session> {
  return { since: performance.now(), headers: await sessionOf(login) }
}

/**
 * Reads the latest requests, newest first: one page, and those before it until a page has a request of `seen`, at most `MAX_PAGES`.
 */
async function readLatest(
  login: Login,
  headers: Headers,
  seen: ReadonlySet<string> | undefined,
): Promise<readonly KeptRequest[]> {
  const latest: KeptRequest[] = []
  let cursor: string | undefined
  for (let pages = 1; ; pages += 1) {
    const page = await readPage(login, headers, cursor)
    latest.push(...page.requests)
    const isLast = page.nextCursor === null || pages === MAX_PAGES
    if (isLast || seen === undefined || page.requests.some(({ id }) => seen.has(id))) return latest
    cursor = page.nextCursor
    await sleep(PAGE_MS)
  }
}

async function readPage(login: Login, headers: Headers, cursor?: string): Promise<KeptPage> {
  const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
  const path = `/user/v1/requests?limit=${PAGE}${after}`
  const { data } = await call(login.host, path, { method: 'GET', headers })
  const { nextCursor } = data
  const requests = rowsOf(login.host, data, 'requests').map(row => ({
    ...textsOf(login.host, row, ['id', 'createdAt']),
    operation: textOrNull(row['operation']),
    status: Number(row['status']),
    error: textOrNull(row['error']),
    message: textOrNull(row['message']),
  }))
  return { requests, nextCursor: textOrNull(nextCursor) }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function lineOf({ createdAt, operation, status, error, message, id }: KeptRequest): string {
  const why = error === null ? '' : `  ${error}  ${message ?? ''}`
  return escapedLine(`${createdAt.slice(11, 19)}  ${(operation ?? '-').padEnd(24)}  ${status}  ${id}${why}`)
}

function table(requests: readonly KeptRequest[]): CommandOutput {
  return {
    data: requests,
    table: {
      columns: [
        { head: 'AT', kind: 'instant' },
        { head: 'OPERATION', kind: 'text' },
        { head: 'STATUS', kind: 'text' },
        { head: 'WHY', kind: 'text' },
        { head: 'REQUEST', kind: 'id' },
      ],
      rows: requests.map(each => [
        each.createdAt,
        each.operation,
        each.status,
        each.message ?? each.error,
        each.id,
      ]),
      dropFirst: ['AT'],
    },
    empty: 'No requests.',
  }
}
