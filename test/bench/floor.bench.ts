// How far payments are from what the database alone can do. On Postgres, which waits for the disk, pgbench calls one function that does the
// durable work of a payment and nothing else, and clients pay over HTTP through two hosts, each with all features. On SQLite, a process does
// that work by hand, and clients pay through one host.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { pgbenchBinary } from '../harness/binaries.ts'
import type { HostProcess } from '../harness/host.ts'
import { startPostgres } from '../harness/services.ts'
import { median, orderOfRound, spread } from './arithmetic.ts'
import { extent, ONCE } from './extent.ts'
import { paymentsByHand } from './floor/by-hand.ts'
import { compareOnSqlite } from './floor/on-sqlite.ts'
import { openPayers, payThroughHosts, paymentOf } from './floor/through-hosts.ts'
import type { LoadResult } from './floor/times.ts'
import { NO_PGBENCH } from './pgbench.ts'
import { columns, digits } from './report.ts'
import { countingProxy, postgresStatements, type Traffic } from './shared-stores/counting-proxy.ts'
import { cpuOfProcess, postgresCpu } from './shared-stores/cpu.ts'
import { atFixedRate } from './shared-stores/fixed-rate.ts'
import { withHosts } from './shared-stores/hosts.ts'
import { leastTraffic } from './shared-stores/least-traffic.ts'

const CLIENTS = ONCE ? [2] : (process.env['BENCH_CLIENTS'] ?? '1,4,16,64').split(',').map(Number)
const ACCOUNTS = extent(1000, 4)
const SECONDS = extent(Number(process.env['BENCH_SECONDS'] ?? 4), 1)
const ROUNDS = extent(Number(process.env['BENCH_ROUNDS'] ?? 3), 1)
const HOSTS = 2

/** One sample of a side. Per payment: CPU in microseconds and bytes of the write-ahead log. */
interface Sample extends LoadResult {
  readonly hostMicros: number
  readonly postgresMicros: number
  readonly walBytes: number
}

/** The samples of one number of clients and accounts, a row per round: by hand, through hosts, and through hosts again. */
interface Case {
  readonly clients: number
  readonly accounts: number
  readonly rounds: readonly (readonly [Sample, Sample, Sample])[]
}

const SIDES = ['one function, by pgbench', `${HOSTS} hosts`, `${HOSTS} hosts (again)`] as const

/** What one payment sends to Postgres: the least of several, because a host's background tasks use it too. */
async function countTraffic(): Promise<Traffic> {
  const proxy = await countingProxy(process.env['TEST_POSTGRES_URL'] as string, postgresStatements)
  const throughProxy = async (given: string): Promise<string> => {
    const url = new URL(given)
    url.port = new URL(proxy.url).port
    return url.href
  }
  const least = await withHosts({ kind: 'postgres', count: 1, url: throughProxy }, async ([host]) => {
    const { url } = host as HostProcess
    const payers = await openPayers(url, 2)
    const [counted] = await leastTraffic([proxy], { turns: extent(21, 3) }, turn =>
      atFixedRate([url], { perSecond: 1, seconds: 1, next: () => paymentOf(payers, turn % 2) }),
    )
    return counted as Traffic
  })
  await proxy.close()
  return least
}

async function measure(hosts: readonly HostProcess[]): Promise<readonly Case[]> {
  const url = process.env['TEST_POSTGRES_URL'] as string
  const byHand = await paymentsByHand(url, ACCOUNTS)
  const payers = await openPayers((hosts[0] as HostProcess).url, ACCOUNTS)
  const cpu = await postgresCpu(url)
  const log = new pg.Client({ connectionString: url })
  await log.connect()
  const read = async (): Promise<readonly [number, number, number]> => {
    const { rows } = await log.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes")
    const hostMicros = hosts.reduce((sum, { pid }) => sum + cpuOfProcess(pid), 0)
    return [hostMicros, await cpu.read(), Number(rows[0]?.bytes)]
  }
  const sample = async (run: () => Promise<LoadResult>): Promise<Sample> => {
    const before = await read()
    const result = await run()
    const after = await read()
    if (result.payments === 0) throw new Error('no payment ended within a sample: raise BENCH_SECONDS')
    const [hostMicros = 0, postgresMicros = 0, walBytes = 0] = after.map(
      (value, index) => (value - (before[index] as number)) / result.payments,
    )
    return { ...result, hostMicros, postgresMicros, walBytes }
  }
  const run = (side: number, clients: number, accounts: number, seconds: number): Promise<LoadResult> =>
    side === 0
      ? whileStopped(hosts, () => byHand.run(clients, accounts, seconds))
      : payThroughHosts(hosts, payers, { clients, accounts, seconds })
  const cases: Case[] = []
  // Compiles code, opens connections and fills caches.
  for (const side of [0, 1]) await run(side, Math.max(...CLIENTS), ACCOUNTS, SECONDS)
  for (const accounts of [1, ACCOUNTS])
    for (const clients of CLIENTS) {
      const rounds: [Sample, Sample, Sample][] = []
      for (let round = 0; round < ROUNDS; round++) {
        const samples: Sample[] = []
        for (const side of orderOfRound(round, SIDES.length))
          samples[side] = await sample(() => run(side, clients, accounts, SECONDS))
        rounds.push(samples as [Sample, Sample, Sample])
      }
      cases.push({ clients, accounts, rounds })
    }
  await Promise.all([byHand.close(), cpu.close(), log.end()])
  return cases
}

/** Stops hosts while others are measured, so that their background tasks use no Postgres. */
async function whileStopped<T>(hosts: readonly HostProcess[], work: () => Promise<T>): Promise<T> {
  for (const { pid } of hosts) process.kill(pid, 'SIGSTOP')
  try {
    return await work()
  } finally {
    for (const { pid } of hosts) process.kill(pid, 'SIGCONT')
  }
}

/** The rows of a case: each side, then its share of the floor. */
function rowsOf({ clients, accounts, rounds }: Case): string[][] {
  const of = (side: number, figure: keyof Sample): number =>
    median(rounds.map(round => (round[side] as Sample)[figure]))
  const ratio = (side: number, figure: keyof Sample, to = 0) =>
    spread(rounds.map(round => (round[side] as Sample)[figure] / (round[to] as Sample)[figure]))
  const figures = ['perSecond', 'hostMicros', 'postgresMicros', 'walBytes', 'p50', 'p99'] as const
  const place = [String(accounts), String(clients)]
  const times = (figure: keyof Sample): string => `${ratio(1, figure).median.toFixed(2)} x`
  const again = ratio(2, 'perSecond', 1)
  return [
    ...SIDES.map((name, side) => [...place, name, ...figures.map(figure => digits(of(side, figure)))]),
    [
      ...place,
      'hosts / function',
      times('perSecond'),
      '',
      times('postgresMicros'),
      times('walBytes'),
      times('p50'),
      times('p99'),
    ],
    [...place, 'A/A', `${again.low.toFixed(2)} .. ${again.high.toFixed(2)}`],
  ]
}

const onSqlite = await compareOnSqlite(ROUNDS, SECONDS)
if (!pgbenchBinary()) console.log(NO_PGBENCH)
else {
  const postgres = await startPostgres({ durable: true })
  process.env['TEST_POSTGRES_URL'] = postgres.url
  try {
    const traffic = await countTraffic()
    console.log(
      `a payment through a host: ${traffic.statements} statements in ${traffic.roundTrips} round trips; by the function: 1 in 1`,
    )
    const cases = await withHosts({ kind: 'postgres', count: HOSTS }, measure)
    const head = [
      'accounts',
      'clients',
      'side',
      'payments/s',
      'hosts µs',
      'Postgres µs',
      'WAL bytes',
      'p50 ms',
      'p99 ms',
    ]
    console.log(columns([head, ...cases.flatMap(rowsOf)], [2]).join('\n'))
    if (!ONCE) {
      mkdirSync(join('build', 'bench'), { recursive: true })
      const result = { onSqlite, traffic, cases, at: new Date().toISOString() }
      writeFileSync(join('build', 'bench', 'floor.json'), `${JSON.stringify(result, null, 2)}\n`)
    }
  } finally {
    await postgres.stop()
  }
}
