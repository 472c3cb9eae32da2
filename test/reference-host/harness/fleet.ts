import { setTimeout as delay } from 'node:timers/promises'
import { request, spawnHost, type HttpResponse, type HostProcess, type TestHost } from '../../harness/host.ts'
import type { Random } from './random.ts'

/** Host processes on shared stores, some of which are killed now and then. */
export interface Fleet {
  /**
   * Asks one host after the other until one has a response: a lost connection, 503 and `request_in_progress` are none.
   * So a write needs an idempotency key.
   */
  send: TestHost['send']
  /** What happened so far. */
  readonly counts: { responses: number; kills: number; lost: number; unavailable: number; inProgress: number }
  /**
   * Kills hosts at random moments and starts them again, until the returned function is called. Between two kills are at least `pauseMs` and
   * `LEAST_RESPONSES` responses: on a slow machine hosts would otherwise be killed before they have done anything.
   */
  killing(random: Random, pauseMs?: number): () => Promise<void>
  /** Stops killing and the hosts, and says what they printed. Also at the end of a failed test, which would wait for the hosts. */
  stop(): Promise<string>
}

/** Of a request: five minutes, since a busy machine may need many seconds to start a host again. */
const MAX_TRIES = 3000
const LEAST_RESPONSES = 50

/** Starts `size` hosts at once, an even number or one. `script` replaces the one of `npm start`. */
export async function startFleet(
  size: number,
  env: Record<string, string>,
  random: Random,
  script?: readonly string[],
): Promise<Fleet> {
  const start = (): Promise<HostProcess> => spawnHost('unused', env, script)
  const hosts = await Promise.all(Array.from({ length: size }, start))
  const counts = { responses: 0, kills: 0, lost: 0, unavailable: 0, inProgress: 0 }
  let output = ''
  const ended = new AbortController()
  let killers: Promise<unknown> = Promise.resolve()
  const responseOf = async (
    host: HostProcess,
    ...asked: Parameters<TestHost['send']>
  ): Promise<HttpResponse | undefined> => {
    const response = await request(host.url, ...asked).catch(() => undefined)
    if (!response) counts.lost += 1
    else if (response.status === 503) counts.unavailable += 1
    else if (response.body['error'] === 'request_in_progress') counts.inProgress += 1
    else return response
    return undefined
  }
  const killOne = async (at: number): Promise<void> => {
    const victim = hosts[at] as HostProcess
    await victim.stop('SIGKILL')
    output += victim.output()
    counts.kills += 1
    hosts[at] = await start()
  }
  return {
    counts,
    async send(path, options) {
      let at = random.under(size)
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const response = await responseOf(hosts[at] as HostProcess, path, options)
        if (response) {
          counts.responses += 1
          return response
        }
        at = (at + 1) % size
        await delay(tries < size ? 5 : 100)
      }
      throw new Error(`${path}: no response from any host`)
    },
    killing(chance, pauseMs = 100) {
      const stop = new AbortController()
      // Two at work, each on its half of the hosts: so two may be gone at once, and some are always there.
      const kill = async (half: number): Promise<void> => {
        const signal = AbortSignal.any([stop.signal, ended.signal])
        while (!signal.aborted) {
          const enough = counts.responses + LEAST_RESPONSES
          do await delay(pauseMs + chance.under(500))
          while (!signal.aborted && counts.responses < enough)
          if (!signal.aborted) await killOne(size === 1 ? 0 : 2 * chance.under(size / 2) + half)
        }
      }
      const round = Promise.all(size === 1 ? [kill(0)] : [kill(0), kill(1)])
      killers = round
      return async () => {
        stop.abort()
        await round
      }
    },
    async stop() {
      ended.abort()
      await killers.catch(() => {})
      await Promise.all(hosts.map(host => host.stop('SIGTERM')))
      return output + hosts.map(host => host.output()).join('')
    },
  }
}
