import { setTimeout as sleep } from 'node:timers/promises'
import { SHORT_ID } from '@gatewright/host/internal'
import { escapedLine } from '@gatewright/host/internal/commands'
import { CommandError, type CommandOutput, printLine, type StartCommand } from '@gatewright/host/cli'
import { call, isPassing, keyLabelsOf, rowsOf, sessionOf, textsOf } from './host-client.ts'
import { type Login, readLogin } from './login-file.ts'
import { whyRefused } from '../../product/why-refused.ts'

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
  readonly rule: string | null
  readonly message: string | null
  readonly details: unknown
  readonly keyId: string | null
  /** The label of its key, or the id of a key that has none. */
  readonly key: string | null
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
      const session = await newSession(login)
      const { requests } = await readPage(login, session)
      return table(requests.filter(isShown).toReversed())
    }
    /** The ids of the poll before. */
    let seen: ReadonlySet<string> | undefined
    let session: Session | undefined
    let problem: string | undefined
    if (!json) await printLine(HEADING)
    for (;;) {
      const isNew: boolean = session === undefined || performance.now() - session.since > SESSION_MS
      try {
        session = isNew || !session ? await newSession(login) : session
        const latest = await readLatest(login, session, seen)
        for (const request of latest
          .filter(each => isShown(each) && seen?.has(each.id) !== true)
          .toReversed())
          await printLine(json ? escapedLine(JSON.stringify(request)) : linesOf(request))
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

interface Session {
  readonly headers: Readonly<Record<string, string>>
  /** The labels of the account's keys, by their ids. */
  readonly labels: ReadonlyMap<string, string>
  /** When it was created, on the clock of `performance.now()`. */
  readonly since: number
}

async function newSession(login: Login): Promise<Session> {
  const since = performance.now()
  const headers = await sessionOf(login)
  return { since, headers, labels: await keyLabelsOf(login.host, headers) }
}

/**
 * Reads the latest requests, newest first: one page, and those before it until a page has a request of `seen`, at most `MAX_PAGES`.
 */
async function readLatest(
  login: Login,
  session: Session,
  seen: ReadonlySet<string> | undefined,
): Promise<readonly KeptRequest[]> {
  const latest: KeptRequest[] = []
  let cursor: string | undefined
  for (let pages = 1; ; pages += 1) {
    const page = await readPage(login, session, cursor)
    latest.push(...page.requests)
    const isLast = page.nextCursor === null || pages === MAX_PAGES
    if (isLast || seen === undefined || page.requests.some(({ id }) => seen.has(id))) return latest
    cursor = page.nextCursor
    await sleep(PAGE_MS)
  }
}

async function readPage(login: Login, { headers, labels }: Session, cursor?: string): Promise<KeptPage> {
  const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
  const path = `/user/v1/requests?limit=${PAGE}${after}`
  const { data } = await call(login.host, path, { method: 'GET', headers })
  const { nextCursor } = data
  const requests = rowsOf(login.host, data, 'requests').map(row => ({
    ...textsOf(login.host, row, ['id', 'createdAt']),
    operation: textOrNull(row['operation']),
    status: Number(row['status']),
    error: textOrNull(row['error']),
    rule: textOrNull(row['rule']),
    message: textOrNull(row['message']),
    details: row['details'],
    keyId: textOrNull(row['keyId']),
    key: labels.get(String(row['keyId'])) ?? textOrNull(row['keyId']),
  }))
  return { requests, nextCursor: textOrNull(nextCursor) }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The columns of lines, which fit in 80 characters with a key of 16 and the start of a request's id. */
const columns = (
  ...cells: readonly [at: string, status: string, operation: string, key: string, id: string]
) => [cells[0].padEnd(8), cells[1].padEnd(6), cells[2].padEnd(26), cells[3].padEnd(20), cells[4]].join('  ')
const HEADING = columns('AT (UTC)', 'STATUS', 'OPERATION', 'KEY', 'REQUEST')

/** A line of a request, and one below it for why it was refused. */
function linesOf(request: KeptRequest): string {
  const { createdAt, operation, status, error, rule, message, key, id } = request
  const line = columns(
    createdAt.slice(11, 19),
    String(status),
    operation ?? '-',
    key ?? '-',
    id.slice(0, SHORT_ID),
  )
  if (error === null) return escapedLine(line)
  const why = [error, rule].filter(Boolean).join(' ')
  return `${escapedLine(line)}\n          ${escapedLine(`${why}: ${message ?? ''}`)}`
}

function table(requests: readonly KeptRequest[]): CommandOutput {
  return {
    data: requests,
    table: {
      columns: [
        { head: 'AT', kind: 'instant' },
        { head: 'STATUS', kind: 'text' },
        { head: 'OPERATION', kind: 'text' },
        { head: 'KEY', kind: 'text' },
        { head: 'WHY', kind: 'state' },
        { head: 'REQUEST', kind: 'shortId' },
        { head: 'MESSAGE', kind: 'text' },
      ],
      rows: requests.map(each => [
        each.createdAt,
        each.status,
        each.operation,
        each.key,
        whyRefused(each) || null,
        each.id,
        each.message,
      ]),
      dropFirst: ['MESSAGE'],
    },
    empty: 'No requests.',
  }
}
