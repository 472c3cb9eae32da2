// CPU until the command line has printed its help and until a host serves, and what the first request of each kind costs more than the
// second. Both programs run as users run them: from their bundles, on a data folder that has data.
import { spawnSync, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  bearer,
  bootstrapUser,
  newWallet,
  request,
  signedBootstrap,
  type RequestOptions,
} from '../harness/host.ts'
import { plainNode } from '../harness/node.ts'
import { PROGRAMS } from '../harness/programs.ts'
import { median } from './arithmetic.ts'
import { extent, reportMissed } from './extent.ts'
import { columns } from './report.ts'

const ROUNDS = extent(9, 1)
/** The most CPU of a program, with Node itself, in ms. */
const HELP_MS = 120
const LIST_MS = 350
const READY_MS = 600
/** The kind of request that makes the API description. */
const DESCRIPTION = 'API description'
/** How much more CPU the first request of a kind may take than the second, in ms. */
const FIRST_MS = 50

const DATA_DIR = mkdtempSync(join(tmpdir(), 'gatewright-start-'))
process.once('exit', () => rmSync(DATA_DIR, { recursive: true, force: true }))
const env = {
  PATH: process.env['PATH'],
  DATA_DIR,
  PORT: '0',
  OPERATOR_PORT: '0',
  LOG_LEVEL: 'silent',
  METRICS_TOKEN: 'm'.repeat(32),
}

const script = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`
/** Writes the CPU of its process to file descriptor 3 when it ends. */
const AT_EXIT = script(`import { writeSync } from 'node:fs'
process.on('exit', () => { const { user, system } = process.cpuUsage(); writeSync(3, String((user + system) / 1000)) })`)
/** Sends the CPU of its process to its parent, which asks for it. */
const ON_DEMAND = script(
  `process.on('message', () => { const { user, system } = process.cpuUsage(); process.send((user + system) / 1000) })`,
)

/** A host in a process of its own. */
interface StartedHost {
  readonly child: ChildProcess
  readonly url: string
  /** CPU of its process until now, in ms. */
  cpu(): Promise<number>
  stop(): Promise<void>
}

async function startHost(): Promise<StartedHost> {
  const child = plainNode(['--import', ON_DEMAND, PROGRAMS.host], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', chunk => {
      output += String(chunk)
      const found = /listens on (\S+)[^]*Ready\./.exec(output)
      if (found) resolve(found[1] as string)
    })
    child.once('exit', code => reject(new Error(`the host ended with code ${code}: ${output}`)))
  })
  return {
    child,
    url,
    cpu() {
      const answered = new Promise<number>(resolve => child.once('message', resolve))
      child.send('cpu')
      return answered
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** CPU of a program that runs to its end, in ms. */
function cpuOf([args, code]: readonly [args: readonly string[], code: number]): number {
  const { status, output } = spawnSync(process.execPath, ['--import', AT_EXIT, ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  if (status !== code) throw new Error(`${args.join(' ')} ended with ${status}: ${output[2]}`)
  return Number(output[3])
}

function report(
  title: string,
  rows: readonly (readonly [name: string, figures: readonly number[], bar: number | undefined])[],
): void {
  console.log(title)
  const lines = rows.map(([name, figures, bar]) => [
    name,
    median(figures).toFixed(0),
    `${Math.min(...figures).toFixed(0)} .. ${Math.max(...figures).toFixed(0)}`,
    bar === undefined ? '' : `<= ${bar}`,
  ])
  console.log(columns([['', 'CPU ms', 'low .. high', 'bar'], ...lines], [0]).join('\n'))
  for (const [name, figures, bar = Infinity] of rows)
    if (median(figures) > bar)
      reportMissed(`${name}: ${median(figures).toFixed(0)} ms, at most ${bar} wanted`)
  console.log()
}

const first = await startHost()
const user = await bootstrapUser((path, options) => request(first.url, path, options), {
  sessionTtlSeconds: 86_400,
})
await first.stop()

const command = (...args: string[]): readonly string[] => [PROGRAMS.command, ...args]
const programs: Readonly<Record<string, readonly [args: readonly string[], code: number, bar?: number]>> = {
  'an empty process': [['-e', ''], 0],
  'gatewright --help': [command('--help'), 0, HELP_MS],
  'gatewright help keys list': [command('help', 'keys', 'list'), 0, HELP_MS],
  'gatewright --version': [command('--version'), 0, HELP_MS],
  'an unknown command': [command('kyes', 'list'), 2, HELP_MS],
  'gatewright keys list USER': [command('keys', 'list', user.userId), 0, LIST_MS],
}
const samples = new Map<string, number[]>()
const keep = (name: string, value: number): void => {
  samples.set(name, [...(samples.get(name) ?? []), value])
}
const READY = 'a host until it serves'
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, [args, code]] of Object.entries(programs)) keep(name, cpuOf([args, code]))
  const host = await startHost()
  keep(READY, await host.cpu())
  await host.stop()
}
report(`start: ms of CPU with that of Node, median of ${ROUNDS} processes`, [
  ...Object.entries(programs).map(([name, [, , bar]]) => [name, samples.get(name) ?? [], bar] as const),
  [READY, samples.get(READY) ?? [], READY_MS],
])

const session = { headers: bearer(user.token) }
/** One request of each kind that needs something else of the host. */
const requests: Readonly<Record<string, () => Promise<readonly [path: string, options?: RequestOptions]>>> = {
  'health check': async () => ['/healthz'],
  balances: async () => ['/user/v1/balances', session],
  'sign-in of a wallet': async () => ['/user/v1/bootstrap', { body: await signedBootstrap(newWallet()) }],
  'pay-in': async () => [
    '/user/v1/subscriptions/payin',
    { headers: { ...session.headers, 'idempotency-key': randomUUID() }, body: { amountCents: 2500 } },
  ],
  'body that breaks its schema': async () => [
    '/user/v1/subscriptions/payin',
    { headers: { ...session.headers, 'idempotency-key': randomUUID() }, body: { amountCents: 'x' } },
  ],
  // Without a bar: only whoever asks for the description waits until it is made.
  [DESCRIPTION]: async () => ['/openapi.json'],
  metrics: async () => ['/metrics', { headers: bearer(env.METRICS_TOKEN) }],
}

/** CPU of the host for one request, in ms. */
async function cpuOfRequest(
  host: StartedHost,
  [path, options]: readonly [path: string, options?: RequestOptions],
): Promise<number> {
  const before = await host.cpu()
  const { body, method, headers } = options ?? {}
  const response = await fetch(host.url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  if (response.status >= 500 || response.status === 404)
    throw new Error(`${path} returned ${response.status}`)
  return (await host.cpu()) - before
}

for (let round = 0; round < ROUNDS; round++) {
  for (const [name, make] of Object.entries(requests)) {
    const host = await startHost()
    const [once, again] = [await make(), await make()]
    const cold = await cpuOfRequest(host, once)
    keep(name, cold - (await cpuOfRequest(host, again)))
    await host.stop()
  }
}
report(
  `start: ms of CPU that the first request of a host costs more than the second, median of ${ROUNDS} hosts`,
  Object.keys(requests).map(name => [
    name,
    samples.get(name) ?? [],
    name === DESCRIPTION ? undefined : FIRST_MS,
  ]),
)
