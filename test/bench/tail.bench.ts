// How long payments take at 70 % of what a host can do, while its chores run: it folds balances, publishes events, writes requests, and
// deletes a backlog. And how long its event loop was held. On SQLite, and on a Postgres that waits for the disk. BENCH_SECONDS (default 60).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atExit } from '../harness/at-exit.ts'
import { spawnHost } from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { PROGRAMS } from '../harness/programs.ts'
import { startPostgres } from '../harness/services.ts'
import { extent, ONCE, reportMissed } from './extent.ts'
import { openPayers, paymentOf, payThroughHosts } from './floor/through-hosts.ts'
import { RATE_LIMITS } from './host-lines.ts'
import { columns, digits } from './report.ts'
import { atFixedRate, type Times } from './shared-stores/fixed-rate.ts'
import { addBacklog } from './tail/backlog.ts'
import { watchedLoop, type LoopDelays } from './tail/watched-loop.ts'

const SECONDS = extent(Number(process.env['BENCH_SECONDS'] ?? 60), 1)
const WARM_UP_SECONDS = extent(6, 1)
const ACCOUNTS = extent(200, 4)
const CLIENTS = 16
/** The part of the capacity that is asked for. */
const LOAD = 0.7
/** Rows of each kind that a collector has to delete. */
const BACKLOG = extent(20_000, 100)
/** The 99th percentile may be so many times the median. */
const MOST_TIMES = 10
/** How long the event loop may be held, in ms. */
const MOST_HELD_MS = 50

interface Measured extends Times, LoopDelays {
  readonly stores: 'embedded' | 'postgres'
  /** Payments a second with as many clients as `CLIENTS`. */
  readonly capacity: number
}

async function measure(stores: Measured['stores']): Promise<Measured> {
  const { env, drop } = await hostStoresEnv(stores)
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-tail-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const forget = atExit(remove)
  const script = [...watchedLoop.preload, PROGRAMS.host]
  const host = await spawnHost(folder, { ...env, RATE_LIMITS, LOG_LEVEL: 'error' }, script)
  try {
    const payers = await openPayers(host.url, ACCOUNTS)
    await addBacklog(env['DATABASE_URL'] ?? join(folder, 'host.sqlite'), BACKLOG)
    const load = { clients: CLIENTS, accounts: ACCOUNTS, seconds: WARM_UP_SECONDS }
    await payThroughHosts([host], payers, load)
    const { perSecond: capacity } = await payThroughHosts([host], payers, load)
    await watchedLoop.read(host)
    const times = await atFixedRate([host.url], {
      perSecond: Math.max(1, Math.floor(capacity * LOAD)),
      seconds: SECONDS,
      next: index => paymentOf(payers, index % payers.length),
    })
    return { stores, capacity, ...times, ...(await watchedLoop.read(host)) }
  } finally {
    await host.stop('SIGTERM')
    remove()
    forget()
    await drop()
  }
}

const postgres = await startPostgres({ durable: true })
process.env['TEST_POSTGRES_URL'] = postgres.url
try {
  const results = [await measure('embedded'), await measure('postgres')]
  const head = [
    'stores',
    'capacity/s',
    'asked/s',
    'p50 ms',
    'p99 ms',
    'p99 / p50',
    'loop p99 ms',
    'loop most ms',
    'its CPU ms',
  ]
  const rows = results.map(({ stores, capacity, perSecond, p50, p99, loopP99, loopMost, loopMostCpu }) => [
    stores,
    ...[capacity, perSecond, p50, p99].map(digits),
    `${(p99 / p50).toFixed(1)} x`,
    ...[loopP99, loopMost, loopMostCpu].map(digits),
  ])
  console.log(columns([head, ...rows], [0]).join('\n'))
  for (const { stores, p50, p99, loopMost, loopMostCpu } of results) {
    if (p99 > MOST_TIMES * p50)
      reportMissed(`${stores}: p99 is ${(p99 / p50).toFixed(1)} times p50, at most ${MOST_TIMES}`)
    if (loopMost > MOST_HELD_MS)
      reportMissed(
        `${stores}: the event loop was held for ${digits(loopMost)} ms, at most ${MOST_HELD_MS}; the process used at most ${digits(loopMostCpu)} ms of CPU meanwhile`,
      )
  }
  if (!ONCE) {
    mkdirSync(join('build', 'bench'), { recursive: true })
    const result = { results, at: new Date().toISOString() }
    writeFileSync(join('build', 'bench', 'tail.json'), `${JSON.stringify(result, null, 2)}\n`)
  }
} finally {
  await postgres.stop()
}
