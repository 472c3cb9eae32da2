import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { ChildProcess } from 'node:child_process'
import { startChild } from '../harness/child.ts'
import { hostStoresEnv, type HostStores } from '../harness/host-stores.ts'
import { median } from './arithmetic.ts'
import { extent, ONCE, reportMissed } from './extent.ts'
import { HEAVIEST, type Weight } from './heavy-documents.ts'
import type { HostAddress, Usage } from './servers/heavy-host.child.ts'
import type { Setting, Statuses } from './servers/heavy-load.child.ts'

/** A neighbour's p99 may be so many times its quiet one. */
const MAX_TIMES = 5
/** The most that the host's process may have resident, in bytes. */
const MAX_RSS = 768 * 1024 * 1024
/** Reads of one neighbour in a second, under its limit of 600 a minute. */
const READS_PER_SECOND = 8

/** What one part found. */
interface Part {
  readonly p50: number
  readonly p99: number
  readonly cpu: number
  readonly mostRss: number
}

/** What one set of stores is measured with. */
export interface HeavyCallers {
  readonly stores: HostStores
  /** How many wallets with heavy documents send. Default 20. */
  readonly callers?: number
  /** Default: the heaviest. */
  readonly weight?: Weight
  /** Insist that nothing heavier is accepted. */
  readonly heaviest?: boolean
  readonly seconds: number
}

/**
 * Measures how long accounts with plain sessions wait for their balances while wallets with the heaviest documents send as much
 * as their rate limits allow, and how much memory the host has: quiet and loaded in turn, each in a process of its own. Bars:
 * p99 under 5 times the quiet one (the median of the rounds), the most resident memory, no response of the host above 499.
 */
export async function compareHeavyCallers(given: HeavyCallers): Promise<object> {
  const { stores, callers = 20, weight = HEAVIEST, heaviest = true, seconds } = given
  const { env, drop } = await hostStoresEnv(stores)
  const host = startChild(new URL('./servers/heavy-host.child.js', import.meta.url), [JSON.stringify(env)])
  const children = [host]
  try {
    const { url, tokens } = await messageFrom<HostAddress>(host)
    const setting: Setting = { url, callers, weight, heaviest }
    const before = await usage(host)
    const load = startChild(new URL('./servers/heavy-load.child.js', import.meta.url), [
      JSON.stringify(setting),
    ])
    children.push(load)
    await messageFrom(load)
    const measure = (): Promise<Part> => measured(host, () => neighbours(url, tokens, seconds))
    await measure()
    const [quiet, loaded]: [Part[], Part[]] = [[], []]
    const statuses: Record<string, number> = {}
    for (let round = 0; round < extent(3, 1); round++) {
      quiet.push(await measure())
      load.send('start')
      loaded.push(await measure())
      const nextMessage = messageFrom<Statuses>(load)
      load.send('stop')
      for (const [status, count] of Object.entries(await nextMessage))
        statuses[status] = (statuses[status] ?? 0) + count
    }
    insistOnStatuses(statuses)
    return report({ stores, callers, rssBefore: before.rss, quiet, loaded, statuses })
  } finally {
    for (const child of children) if (child.connected) child.disconnect()
    await Promise.all(children.map(ended))
    await drop()
  }
}

function report(found: {
  readonly stores: HostStores
  readonly callers: number
  readonly rssBefore: number
  readonly quiet: readonly Part[]
  readonly loaded: readonly Part[]
  readonly statuses: Statuses
}): object {
  const { stores, callers, quiet, loaded, statuses } = found
  const times = median(loaded.map(({ p99 }, round) => p99 / (quiet[round] as Part).p99))
  const mostRss = Math.max(...loaded.map(({ mostRss }) => mostRss))
  const title = `${callers} callers with the heaviest documents, ${stores}`
  console.log(`${title}: ${JSON.stringify(statuses)}`)
  for (const [name, parts] of [
    ['quiet', quiet],
    ['loaded', loaded],
  ] as const) {
    const line = parts.map(
      ({ p50, p99, cpu }) => `${p50.toFixed(1)} / ${p99.toFixed(1)} ms (${(cpu * 100).toFixed(0)} %)`,
    )
    console.log(
      `  ${name.padEnd(7)} a neighbour's p50 / p99 (CPU of the host, % of a core): ${line.join(', ')}`,
    )
  }
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`
  console.log(
    `  p99 ${times.toFixed(1)} x quiet; RSS at most ${megabytes(mostRss)}, ${megabytes(found.rssBefore)} at the start`,
  )
  if (!(times < MAX_TIMES))
    reportMissed(`${title}: p99 ${times.toFixed(1)} x quiet, under ${MAX_TIMES} wanted`)
  if (!(mostRss <= MAX_RSS))
    reportMissed(`${title}: RSS ${megabytes(mostRss)}, at most ${megabytes(MAX_RSS)} wanted`)
  const failed = Object.keys(statuses).filter(status => / (?:5\d\d|broken)$/.test(status))
  if (failed.length > 0) reportMissed(`${title}: returned ${failed.join(', ')}`)
  return { ...found, times, mostRss }
}

/** Throws where a request got a status that it must not get: 403 says that a quota is used up, 429 a limit, 5xx is a missed bar. */
function insistOnStatuses(statuses: Statuses): void {
  const wrong = Object.keys(statuses).find(status => !/ (?:200|403|429|5\d\d|broken|sent)$/.test(status))
  if (wrong !== undefined) throw new Error(`a request of a caller got ${wrong}`)
  for (const kind of ['mint', 'read', 'read new', 'payin', 'list'])
    if (ONCE && !statuses[`${kind} 200`]) throw new Error(`no ${kind} got 200`)
}

async function measured(host: ChildProcess, work: () => Promise<number[]>): Promise<Part> {
  const started = performance.now()
  const before = await usage(host)
  const times = (await work()).sort((one, other) => one - other)
  const after = await usage(host)
  const at = (share: number): number => times[Math.ceil(times.length * share) - 1] as number
  const cpu = (after.cpuMicros - before.cpuMicros) / ((performance.now() - started) * 1000)
  return { p50: at(0.5), p99: at(0.99), cpu, mostRss: after.mostRss }
}

/** Reads balances at a steady rate, without waiting for responses. Each time counts from when the read was due; without a balance it is infinite. */
async function neighbours(url: string, tokens: readonly string[], seconds: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const perSecond = READS_PER_SECOND * tokens.length
  const started = performance.now()
  const all: Promise<number>[] = []
  for (let n = 0; n < seconds * perSecond; n++) {
    const due = started + (n * 1000) / perSecond
    while (performance.now() < due) await new Promise(resolve => setTimeout(resolve, due - performance.now()))
    const neighbour = n % tokens.length
    const authorization = `Bearer ${tokens[neighbour] as string}`
    const headers = { authorization, 'x-forwarded-for': `203.0.113.${neighbour + 1}` }
    all.push(
      new Promise((resolve, reject) => {
        request(`${url}/user/v1/balances`, { agent, headers }, response => {
          response.resume()
          response.once('end', () =>
            resolve(response.statusCode === 200 ? performance.now() - due : Infinity),
          )
        })
          .once('error', reject)
          .end()
      }),
    )
  }
  const times = await Promise.all(all)
  agent.destroy()
  return times
}

/** What a child sends next. Rejects when it ends instead. */
async function messageFrom<T>(child: ChildProcess): Promise<T> {
  const end = new AbortController()
  const fail = (code: number | null): void =>
    end.abort(new Error(`a process of the bench ended with ${code}`))
  child.once('exit', fail)
  try {
    const [message] = (await once(child, 'message', { signal: end.signal })) as [T]
    return message
  } catch (error) {
    throw end.signal.reason ?? error
  } finally {
    child.off('exit', fail)
  }
}

function usage(host: ChildProcess): Promise<Usage> {
  const nextMessage = messageFrom<Usage>(host)
  host.send('usage')
  return nextMessage
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
