// CPU per request of the whole reference host, against Koa and @koa/router that send the same bytes with the same fields.
import { request } from '../harness/host.ts'
import { checkBareKoa, record, type RecordedResponse } from './bare-koa.ts'
import { startBenchHost, type BenchHost } from './bench-host.ts'
import type { Result } from './harness.ts'
import {
  BALANCES,
  FIELD_OF,
  GUARDED_READ,
  hostLines,
  LEGACY_BALANCES,
  prepare,
  proofs,
  RATE_LIMITS,
  requestOf,
  type HostLine,
} from './host-lines.ts'
import { asks, hostPlan, hostSide, serverModule } from './host-sides.ts'
import { compareServerLines, type ServerLine, type ServerSide } from './http.ts'
import { columns, digits } from './report.ts'

const TWIN = 'ours by its current path'
const EVERY_ROUTE = "bare with the host's other routes"

/** Koa with the response of one line. Its requests bring the same fields as those to the host. */
function bareSide(
  name: string,
  line: HostLine,
  responses: RecordedResponse,
  { user }: BenchHost,
): ServerSide {
  const args = [JSON.stringify(responses), JSON.stringify(proofs(user))]
  // A server is warm after some thousand requests; a line has fewer.
  const warmups = Math.ceil(5000 / line.requests)
  return { name, module: serverModule('bare-koa'), args, warmups, ...asks(line) }
}

/** What the host responds to a line, on the wire. */
async function recorded(line: HostLine, { host, user }: BenchHost): Promise<RecordedResponse> {
  const port = Number(new URL(host.url).port)
  const { headers, ...asked } = requestOf(line, 0)
  const field = FIELD_OF[line.credential]
  const proof = field === undefined ? {} : { [field]: proofs(user)[field] as string }
  const proven = { ...asked, headers: { ...proof, ...headers } }
  const response = await record(port, proven)
  const pattern = line.status === 404 ? undefined : line.path
  const found: RecordedResponse = { method: asked.method ?? 'GET', pattern, others: [], response }
  await checkBareKoa(found, proven)
  return found
}

/** Every path of a host as @koa/router has it. */
async function routesOf({ host }: BenchHost): Promise<string[]> {
  const { body } = await request(host.url, '/openapi.json')
  return Object.keys(body['paths'] as object).map(path => path.replaceAll(/\{(\w+)\}/g, ':$1'))
}

/** The lines with what they are compared with. The host that is recorded is not measured: it ends before anything is. */
async function comparedLines(): Promise<ServerLine[]> {
  const running = await startBenchHost({ RATE_LIMITS })
  await prepare(running)
  const routes = await routesOf(running)
  const compared: ServerLine[] = []
  for (const line of hostLines) {
    const responses = await recorded(line, running)
    const peers = [bareSide('bare', line, responses, running)]
    if (line.path === GUARDED_READ) {
      const others = routes.filter(path => path !== line.path)
      peers.push(bareSide(EVERY_ROUTE, line, { ...responses, others }, running))
      peers.push({ ...hostSide('ours with its log', line), process: 'logging', args: ['log'], logs: true })
    }
    if (line.path === LEGACY_BALANCES) peers.push(hostSide(TWIN, { ...line, path: BALANCES }))
    const { name, requests } = line
    compared.push({ title: `host: ${name}`, ours: hostSide('ours', line), peers, requests })
  }
  await running.host.close()
  return compared
}

/**
 * One row of the summary for every peer: CPU of both, how many times the peer's CPU ours is, and the same of the least
 * samples, which other work on the machine disturbs less.
 */
function rows({ title, ours, control, peers }: Result): string[][] {
  const least = ours.leastMicros
  return peers.map(({ name, cpuMicros, leastMicros, ratio }) => [
    title.replace('host: ', ''),
    digits(ours.cpuMicros),
    name,
    digits(cpuMicros),
    `${digits(1 / ratio.median)} x`,
    `${digits(1 / ratio.high)} .. ${digits(1 / ratio.low)}`,
    `${digits(control.ratio.low)} .. ${digits(control.ratio.high)}`,
    digits(least),
    digits(leastMicros),
    `${digits(least / leastMicros)} x`,
  ])
}

const results = await compareServerLines(await comparedLines(), hostPlan)
const head = [
  '',
  'ours µs',
  'against',
  'its µs',
  'ours / it',
  'low .. high',
  'A/A spread',
  'least ours',
  'least its',
  'ours / it',
]
console.log(
  ['Every line, CPU per request', ...columns([head, ...results.flatMap(rows)], [0, 2]), ''].join('\n'),
)
