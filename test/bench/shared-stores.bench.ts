// What operations that move money cost on shared stores: statements and round trips of each, CPU of hosts and stores, and times at
// a fixed rate with one, two and four hosts.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostProcess } from '../harness/host.ts'
import { extent, ONCE } from './extent.ts'
import { columns, digits } from './report.ts'
import {
  countingProxy,
  postgresStatements,
  redisCommands,
  type Traffic,
} from './shared-stores/counting-proxy.ts'
import { cpuOfProcess, postgresCpu, redisCpu } from './shared-stores/cpu.ts'
import { atFixedRate } from './shared-stores/fixed-rate.ts'
import { withHosts, type SharedStores } from './shared-stores/hosts.ts'
import { leastTraffic } from './shared-stores/least-traffic.ts'
import { openSpenders, OPERATIONS, type Spender } from './shared-stores/operations.ts'

const KINDS: readonly SharedStores[] = ['postgres', 'postgres+redis']
const PER_SECOND = extent(Number(process.env['BENCH_RATE'] ?? 40), 10)
const SECONDS = extent(Number(process.env['BENCH_SECONDS'] ?? 6), 1)
/**
 * How many round trips to Postgres an operation may need. A pay-in: the record of its key, its lock and count, and its rows with the
 * commit. The others also read what decides about them, and lock the balance.
 */
const MOST_TRIPS: Readonly<Record<string, number>> = {
  mint: 3,
  'pay-in': 3,
  authorization: 8,
  payment: 5,
  withdrawal: 8,
}
/** What a host reads of the revocation feed several times a second, whatever it is asked: on a busy machine once in each request. */
const READS_FEED = /^select lane, position, kind, id, version, at, starts_at from/
/** Enough that no account meets a bound on open pay-ins or withdrawals. */
const USERS = extent(30, 2)

interface Count {
  readonly operation: string
  readonly stores: SharedStores
  readonly postgres: Traffic
  readonly redis: Traffic
}

/** Counts what one request of each operation sends to the stores: the least of several, because a host's background tasks use them too. */
async function countTraffic(kind: SharedStores): Promise<Count[]> {
  const proxies = {
    postgres: await countingProxy(process.env['TEST_POSTGRES_URL'] as string, () =>
      postgresStatements(text => READS_FEED.test(text)),
    ),
    redis: await countingProxy(process.env['TEST_REDIS_URL'] as string, redisCommands),
  }
  const throughProxy = async (given: string): Promise<string> => {
    const url = new URL(given)
    const { hostname, port } = new URL(proxies[url.protocol.startsWith('redis') ? 'redis' : 'postgres'].url)
    url.hostname = hostname
    url.port = port
    return url.href
  }
  const counts = await withHosts({ kind, count: 1, url: throughProxy }, async ([host]) => {
    const { url } = host as HostProcess
    const users = await openSpenders(url, 2)
    const found: Count[] = []
    for (const [operation, requestBy] of Object.entries(OPERATIONS)) {
      const isEnough = ([traffic]: readonly Traffic[]): boolean =>
        (traffic as Traffic).roundTrips <= (MOST_TRIPS[operation] as number)
      const least = await leastTraffic(
        [proxies.postgres, proxies.redis],
        { turns: extent(21, 5), isEnough },
        turn =>
          atFixedRate([url], { perSecond: 1, seconds: 1, next: () => requestBy(users[turn % 2] as Spender) }),
      )
      const [postgres, redis] = least as [Traffic, Traffic]
      found.push({ operation, stores: kind, postgres, redis })
    }
    return found
  })
  await Promise.all([proxies.postgres.close(), proxies.redis.close()])
  return counts
}

interface Timed {
  readonly operation: string
  readonly stores: SharedStores
  readonly hosts: number
  readonly hostMicros: number
  readonly postgresMicros: number
  readonly redisMicros: number
  readonly p50: number
  readonly p99: number
}

/** Measures each operation at the fixed rate, which hosts share in turn. */
async function timeHosts(kind: SharedStores, count: number): Promise<Timed[]> {
  const postgres = await postgresCpu(process.env['TEST_POSTGRES_URL'] as string)
  const redis = await redisCpu(process.env['TEST_REDIS_URL'] as string)
  const timed = await withHosts({ kind, count }, async hosts => {
    const urls = hosts.map(({ url }) => url)
    const users = await openSpenders(urls[0] as string, USERS)
    const found: Timed[] = []
    for (const [operation, requestBy] of Object.entries(OPERATIONS)) {
      const next = (index: number) => requestBy(users[index % users.length] as Spender)
      // The first second compiles code and opens connections.
      await atFixedRate(urls, { perSecond: PER_SECOND, seconds: 1, next })
      const cpu = async (): Promise<readonly number[]> => [
        hosts.reduce((sum, { pid }) => sum + cpuOfProcess(pid), 0),
        await postgres.read(),
        await redis.read(),
      ]
      const before = await cpu()
      const times = await atFixedRate(urls, { perSecond: PER_SECOND, seconds: SECONDS, next })
      const after = await cpu()
      const [hostMicros = 0, postgresMicros = 0, redisMicros = 0] = after.map(
        (value, at) => (value - (before[at] as number)) / (PER_SECOND * SECONDS),
      )
      found.push({ operation, stores: kind, hosts: count, hostMicros, postgresMicros, redisMicros, ...times })
    }
    return found
  })
  await Promise.all([postgres.close(), redis.close()])
  return timed
}

const counts: Count[] = []
const timed: Timed[] = []
for (const kind of KINDS) counts.push(...(await countTraffic(kind)))
console.log('statements and round trips of one request')
console.log(
  columns(
    [
      ['operation', 'stores', 'Postgres', 'trips', 'Redis', 'trips'],
      ...counts.map(({ operation, stores, postgres, redis }) => [
        operation,
        stores,
        ...[postgres, redis].flatMap(({ statements, roundTrips }) => [
          String(statements),
          String(roundTrips),
        ]),
      ]),
    ],
    [0, 1],
  ).join('\n'),
)
for (const { operation, stores, postgres } of counts)
  if (postgres.roundTrips > (MOST_TRIPS[operation] as number))
    throw new Error(
      `${operation} on ${stores} needs ${postgres.roundTrips} round trips, at most ${MOST_TRIPS[operation]} are allowed`,
    )
for (const kind of KINDS)
  for (const hosts of ONCE ? [2] : [1, 2, 4]) timed.push(...(await timeHosts(kind, hosts)))
console.log(`\nCPU of one request in µs, and times in ms at ${PER_SECOND} requests a second`)
console.log(
  columns(
    [
      ['operation', 'stores', 'hosts', 'hosts µs', 'Postgres µs', 'Redis µs', 'p50', 'p99'],
      ...timed.map(({ operation, stores, hosts, hostMicros, postgresMicros, redisMicros, p50, p99 }) => [
        operation,
        stores,
        String(hosts),
        ...[hostMicros, postgresMicros, redisMicros, p50, p99].map(digits),
      ]),
    ],
    [0, 1],
  ).join('\n'),
)
if (!ONCE) {
  mkdirSync(join('build', 'bench'), { recursive: true })
  writeFileSync(
    join('build', 'bench', 'shared-stores.json'),
    `${JSON.stringify({ counts, timed, at: new Date().toISOString() }, null, 2)}\n`,
  )
}
