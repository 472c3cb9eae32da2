import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { request, spawnHost, type HostProcess } from '../harness/host.ts'
import { stablePort } from './daemon.ts'
import type { ReadinessSample } from './judge.ts'

/** A host under test, which keeps its address when it is started again. */
export interface OpsHost {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly running: boolean
  stop(signal: NodeJS.Signals): Promise<void>
  start(): Promise<void>
  /** What its processes printed so far. */
  output(): string
}

/** Host processes on one set of stores, and what they say about themselves. */
export interface OpsHosts {
  readonly hosts: readonly OpsHost[]
  readonly samples: readonly ReadinessSample[]
  /** Whether each host that runs says that it is ready, or that its database has lost history. */
  settled(): boolean
  stop(): Promise<void>
}

const SAMPLE_MS = 250

/** Starts hosts, and asks each four times a second whether it is ready, until they are stopped. `script` replaces the one of `npm start`. */
export async function startHosts(
  count: number,
  env: Readonly<Record<string, string>>,
  script?: readonly string[],
): Promise<OpsHosts> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-ops-host-'))
  const hosts = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      startHost(`host ${n + 1}`, { dataDir: join(folder, String(n)), env, script }),
    ),
  ).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true })
    throw error
  })
  const samples: ReadinessSample[] = []
  const stopped = new AbortController()
  const sampling = Promise.all(hosts.map(host => sample(host, samples, stopped.signal)))
  const newest = (host: OpsHost): ReadinessSample | undefined =>
    samples.findLast(({ host: name }) => name === host.name)
  return {
    hosts,
    samples,
    settled: () =>
      hosts.every(host => {
        const state = newest(host)
        return !host.running || state?.ready === true || state?.lostHistory === true
      }),
    async stop() {
      stopped.abort()
      await sampling
      await Promise.all(hosts.map(host => host.stop('SIGKILL')))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startHost(
  name: string,
  {
    dataDir,
    env,
    script,
  }: {
    readonly dataDir: string
    readonly env: Readonly<Record<string, string>>
    readonly script: readonly string[] | undefined
  },
): Promise<OpsHost> {
  const port = String(await stablePort())
  const start = (): Promise<HostProcess> =>
    spawnHost(
      dataDir,
      { LOG_FORMAT: 'json', LOG_LEVEL: 'warn', RATE_LIMITS: 'off', ...env, PORT: port },
      script,
    )
  let process: HostProcess | undefined = await start()
  const { url } = process
  let { pid } = process
  let before = ''
  return {
    name,
    url,
    get pid() {
      return pid
    },
    get running() {
      return process !== undefined
    },
    output: () => before + (process?.output() ?? ''),
    async stop(signal) {
      const stopping = process
      process = undefined
      await stopping?.stop(signal)
      before += stopping?.output() ?? ''
    },
    async start() {
      process = await start()
      pid = process.pid
    },
  }
}

async function sample(host: OpsHost, samples: ReadinessSample[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const at = performance.now()
    // A probe of an orchestrator waits for about as long.
    const state = await Promise.race([readiness(host.url), sleep(3000, {}, { ref: false })]).catch(() => ({}))
    samples.push({ host: host.name, at, ...state })
    await sleep(SAMPLE_MS)
  }
}

async function readiness(url: string): Promise<Pick<ReadinessSample, 'ready' | 'lostHistory'>> {
  const { status, body } = await request(url, '/readyz')
  const dependencies = body['dependencies'] as Readonly<Record<string, string>> | undefined
  return { ready: status === 200, lostHistory: dependencies?.['history'] === 'down' }
}
