import { call, type Reply } from '../shared/api.ts'
import { isHostAway, whenHostIsBack } from '../shared/host-away.ts'

/**
 * How often the figures of each endpoint are read, in seconds. What costs the database more than a few rows is read less often: on
 * SQLite a list of lost runs reads a table.
 */
const EVERY_SECONDS = {
  state: 5,
  decisions: 5,
  requests: 5,
  'ledger-check': 5,
  attention: 15,
  jobs: 15,
  'lost-history': 15,
  'lost-runs': 15,
  'provider-events': 15,
  webhooks: 15,
  refusals: 30,
  stores: 30,
  aliases: 60,
} as const

/** The name of an endpoint of the operator listener whose figures are followed. */
export type FigureName = keyof typeof EVERY_SECONDS

const NAMES = Object.keys(EVERY_SECONDS) as FigureName[]

/** The figures of the host, which several parts of the page show. Each endpoint is read once for all of them. */
export interface FiguresFeed {
  /** Calls `show` with each reply of an endpoint. A call without a response is no reply: the figures that are shown stay. */
  follow<T>(name: FigureName, show: (reply: Reply<T>) => void): void
  /** Reads figures and gives them to those who follow them. */
  read(name: FigureName): Promise<void>
  readAll(): Promise<void>
  /** Reads what is due after `seconds` of following. */
  readDue(seconds: number): Promise<void>
  /** Asks for the requests that a query names, from now on. */
  setRequests(query: URLSearchParams): Promise<void>
  /** Ends the reading: the token was forgotten. */
  end(): void
  /** Calls an endpoint once: a GET, or a POST if there is a body. */
  call<T>(path: string, body?: unknown): Promise<Reply<T>>
}

/** Makes the feed of one token. `ended` is called when the host does not accept the token any more. */
export function figuresFeed(token: string, ended: () => void): FiguresFeed {
  const followers = new Map<FigureName, ((reply: Reply<never>) => void)[]>()
  const running = new Map<FigureName, Promise<void>>()
  let requests = new URLSearchParams()
  let over = false
  const callHost = async <T>(path: string, body?: unknown): Promise<Reply<T>> => {
    const reply = await call<T>(`/operator/api/${path}`, { token, ...(body === undefined ? {} : { body }) })
    if (reply.ok || over) return reply
    if (reply.problem.status === 401) {
      over = true
      ended()
    } else if (reply.problem.status === 0) whenHostIsBack(readAgain)
    return reply
  }
  const readNow = async (name: FigureName): Promise<void> => {
    const query = requests.toString()
    const reply = await callHost<never>(name === 'requests' ? `${name}?${query}` : name)
    if (over || (!reply.ok && reply.problem.status === 0)) return
    // The filter was changed meanwhile.
    if (name === 'requests' && requests.toString() !== query) return
    for (const show of followers.get(name) ?? []) show(reply)
  }
  const read = (name: FigureName): Promise<void> => {
    const known = running.get(name)
    if (known) return known
    const reading = readNow(name).finally(() => running.delete(name))
    running.set(name, reading)
    return reading
  }
  const readMany = async (names: readonly FigureName[]): Promise<void> => {
    await Promise.all(names.filter(name => followers.has(name)).map(read))
  }
  const readAll = (): Promise<void> => (over ? Promise.resolve() : readMany(NAMES))
  const readAgain = (): void => void readAll()
  return {
    follow(name, show) {
      followers.set(name, [...(followers.get(name) ?? []), show])
    },
    read,
    readAll,
    async readDue(seconds) {
      if (over || isHostAway()) return
      await readMany(NAMES.filter(name => seconds % EVERY_SECONDS[name] === 0))
    },
    async setRequests(query) {
      requests = query
      await running.get('requests')
      await read('requests')
    },
    end() {
      over = true
    },
    call: callHost,
  }
}
