// Payments between accounts with 1, 2 and 4 hosts on one machine: what the points of `npm run simulate:scale` come from. At a low and at a
// middle rate, as many as 24 clients can make, and as many as one account can make; the CPU of each part, and that of resting hosts. Of two
// turns, the one that the machine disturbed less.
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import type { HostProcess } from '../harness/host.ts'
import { extent, ONCE } from './extent.ts'
import type { Request } from './load.ts'
import { columns, digits } from './report.ts'
import { cpuOfProcess, postgresCpu } from './shared-stores/cpu.ts'
import { atFixedRate, byClients, type Times } from './shared-stores/fixed-rate.ts'
import { withHosts } from './shared-stores/hosts.ts'
import { openSpenders, OPERATIONS, type Spender } from './shared-stores/operations.ts'

const SECONDS = extent(4, 1)
const TURNS = extent(2, 1)
/** Payments that each host makes before anything counts, so that its code is compiled. */
const WARM_UP = extent(1500, 2)
const USERS = extent(30, 2)
const CLIENTS = extent(24, 2)

/** How requests arrive: at equal distances, or by clients who each wait for their response. */
type Arrivals = { readonly perSecond: number } | { readonly clients: number; readonly accounts: number }

/** CPU in milliseconds a second. */
interface Cpu {
  readonly client: number
  readonly hosts: number
  readonly postgres: number
}

interface Point extends Times {
  readonly hosts: number
  readonly arrivals: Arrivals
  readonly cpu: Cpu
}

const payment = OPERATIONS['payment'] as (user: Spender) => Request
const postgres = await postgresCpu(process.env['TEST_POSTGRES_URL'] as string)
const resting: Pick<Point, 'hosts' | 'cpu'>[] = []
const points: Point[] = []

/** Runs something and measures the CPU that each part uses meanwhile. */
async function measureCpu<T>(hosts: readonly HostProcess[], run: () => Promise<T>): Promise<[T, Cpu]> {
  const read = async (): Promise<readonly [number, number, number]> => {
    const { user, system } = process.cpuUsage()
    return [user + system, hosts.reduce((sum, { pid }) => sum + cpuOfProcess(pid), 0), await postgres.read()]
  }
  const before = await read()
  const started = performance.now()
  const result = await run()
  const seconds = (performance.now() - started) / 1000
  const after = await read()
  const [client, ofHosts, ofPostgres] = after.map((micros, at) =>
    Math.round((micros - (before[at] as number)) / 1000 / seconds),
  ) as [number, number, number]
  return [result, { client, hosts: ofHosts, postgres: ofPostgres }]
}

async function measureHosts(hosts: readonly HostProcess[]): Promise<void> {
  const urls = hosts.map(({ url }) => url)
  const users = await openSpenders(urls[0] as string, USERS)
  const measure = async (arrivals: Arrivals, seconds: number): Promise<void> => {
    const accounts = 'accounts' in arrivals ? arrivals.accounts : users.length
    const next = (index: number) => payment(users[index % accounts] as Spender)
    const run = (length: number): Promise<Times> =>
      'clients' in arrivals
        ? byClients(urls, { ...arrivals, seconds: length, next })
        : atFixedRate(urls, { ...arrivals, seconds: length, next })
    // The first second compiles code and opens connections.
    await run(1)
    const turns: Point[] = []
    while (turns.length < TURNS) {
      const [times, cpu] = await measureCpu(hosts, () => run(seconds))
      turns.push({ hosts: hosts.length, arrivals, cpu, ...times })
    }
    points.push(turns.toSorted((one, other) => one.p50 - other.p50)[0] as Point)
  }
  let made = 0
  const warmUp = (index: number): Request => {
    made += 1
    return payment(users[index % users.length] as Spender)
  }
  while (made < WARM_UP * hosts.length) await byClients(urls, { clients: CLIENTS, seconds: 1, next: warmUp })
  const [, cpu] = await measureCpu(
    hosts,
    () => new Promise<void>(resolve => setTimeout(resolve, 1000 * SECONDS)),
  )
  resting.push({ hosts: hosts.length, cpu })
  for (const perSecond of ONCE ? [10] : [40, 100]) await measure({ perSecond }, SECONDS)
  for (const accounts of [users.length, 1]) await measure({ clients: CLIENTS, accounts }, SECONDS)
}

for (const count of ONCE ? [2] : [1, 2, 4]) await withHosts({ kind: 'postgres', count }, measureHosts)
await postgres.close()

const nameOf = (arrivals: Arrivals): string =>
  'perSecond' in arrivals
    ? `${arrivals.perSecond} a second`
    : `${arrivals.clients} clients, ${arrivals.accounts} payer${arrivals.accounts === 1 ? '' : 's'}`
const rowOf = (name: string, hosts: number, cpu: Cpu, times?: Times): string[] => [
  name,
  String(hosts),
  ...[times?.perSecond, times?.p50, times?.p99].map(value => (value === undefined ? '' : digits(value))),
  ...[cpu.client, cpu.hosts, cpu.postgres].map(String),
]
console.log('payments: times in ms, CPU in ms a second')
console.log(
  columns(
    [
      ['arrivals', 'hosts', 'a second', 'p50', 'p99', 'client', 'hosts', 'Postgres'],
      ...resting.map(({ hosts, cpu }) => rowOf('none', hosts, cpu)),
      ...points.map(({ arrivals, hosts, cpu, ...times }) => rowOf(nameOf(arrivals), hosts, cpu, times)),
    ],
    [0],
  ).join('\n'),
)
if (!ONCE) {
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model.trim()}`
  mkdirSync(join('build', 'bench'), { recursive: true })
  writeFileSync(
    join('build', 'bench', 'scale.json'),
    `${JSON.stringify({ at: new Date().toISOString(), machine, resting, points }, null, 2)}\n`,
  )
}
