import { setTimeout as sleep } from 'node:timers/promises'
import { type CommandOutput, escapedLine, type StartCommand } from '@gatewright/host/internal'
import { call, sessionOf } from './host-client.ts'
import { type Login, readLogin } from './login-file.ts'

const INTERVAL_MS = 2000
/** A session of a command lives a minute. */
const SESSION_MS = 45_000
/** How many requests are shown at first, and read at once. */
const PAGE = 50

interface KeptRequest {
  readonly id: string
  readonly createdAt: string
  readonly operation: string | null
  readonly status: number
  readonly error: string | null
  readonly message: string | null
}

/** Prints what the host decides about the requests of the account, as they happen. */
export const tailCommand: StartCommand = {
  name: 'requests tail',
  takes: [],
  flags: { once: 'print the latest and end' },
  summary: 'Print the requests of your account as they happen, with why they were refused',
  example: '--once',
  async start({ env, args: { flags }, json }) {
    const login = await readLogin(env)
    if (flags.has('once')) return table(await latest(login, await sessionOf(login)))
    /** The ids of the page before: what was printed earlier is not among the latest any more. */
    let seen: ReadonlySet<string> = new Set()
    let headers = await sessionOf(login)
    let since = performance.now()
    for (;;) {
      if (performance.now() - since > SESSION_MS) {
        headers = await sessionOf(login)
        since = performance.now()
      }
      const page = await latest(login, headers)
      for (const request of page.filter(({ id }) => !seen.has(id)))
        console.log(json ? escapedLine(JSON.stringify(request)) : lineOf(request))
      seen = new Set(page.map(({ id }) => id))
      await sleep(INTERVAL_MS)
    }
  },
}

/** The latest requests, the oldest first, without those of this command. */
async function latest(login: Login, headers: Readonly<Record<string, string>>): Promise<KeptRequest[]> {
  const { data } = await call(login.host, `/user/v1/requests?limit=${PAGE}`, { method: 'GET', headers })
  const requests = data['requests'] as readonly KeptRequest[]
  return requests.filter(({ operation }) => operation !== 'requests.list').toReversed()
}

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
