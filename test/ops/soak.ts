import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { gatewrightProcess } from '../harness/gatewright.ts'
import { hostSecrets } from '../harness/host-stores.ts'
import { startHosts, type OpsHost } from './hosts.ts'
import { compareWrites, countResponses } from './judge.ts'
import { svgPlot, textPlot, type Series } from './plot.ts'
import { createDatabase, startPostgresServer } from './postgres.ts'
import type { ClusterPrograms } from './programs.ts'
import { startRedisServer } from './redis.ts'
import { HIGH_LIMITS } from './stages/redis.ts'
import { startWriters } from './writes.ts'

const HOSTS = 3
const WRITERS = 8
const SAMPLE_MS = 5000
const RESTART_MS = 30_000
const MEBIBYTE = 2 ** 20
/** How many tables are listed. */
const LARGEST = 12
/** By how much the figures of the last third may exceed those of the third before it. */
const GROWTH = 1.15

/** The figures of one moment. */
interface Figures {
  readonly heap: number
  readonly resident: number
  readonly handles: number
  readonly writes: number
  readonly tables: number
  readonly redisKeys: number
}

/**
 * Runs three hosts on Postgres and Redis for so many minutes under writes. The first stays, and the others are restarted in turn. Prints the
 * first one's heap and handles, and the size of all tables, over time, and writes them as a picture into `build`. Resolves to what must not be so.
 */
export async function runSoak(
  minutes: number,
  folder: string,
  programs: ClusterPrograms,
): Promise<readonly string[]> {
  const database = await startPostgresServer(programs, folder)
  const redis = await startRedisServer(folder)
  const url = await createDatabase(database.url)
  const heapFile = join(folder, 'heap')
  const env = { ...hostSecrets(), DATABASE_URL: url, REDIS_URL: redis.url, RATE_LIMITS: HIGH_LIMITS }
  const preload = fileURLToPath(new URL('./report-heap.js', import.meta.url))
  const script = ['--expose-gc', '--import', preload, 'packages/reference-host/dist/programs/main.js']
  const observed = await startHosts(1, { ...env, HEAP_FILE: heapFile }, script)
  const others = await startHosts(HOSTS - 1, env)
  const [host] = observed.hosts as [OpsHost]
  const writers = await startWriters(WRITERS, [host, ...others.hosts])
  const until = performance.now() + minutes * 60_000
  const restarting = restartInTurn(others.hosts, until)
  const figures: Figures[] = []
  while (performance.now() < until) {
    await sleep(SAMPLE_MS)
    figures.push({
      ...processFigures(host.pid, heapFile),
      writes: writers.acknowledged.length,
      tables: (await tableSizes(url)).reduce((sum, { bytes }) => sum + bytes, 0) / MEBIBYTE,
      redisKeys: Number(await redis.command('DBSIZE')),
    })
  }
  const restarts = await restarting
  await writers.stop()
  const { lost, doubled } = compareWrites(writers.acknowledged, await writers.stored())
  const books = await gatewrightProcess(['ledger', 'check'], env)
  const sizes = await tableSizes(url)
  await Promise.all([observed.stop(), others.stop()])
  const deadlocks = await countDeadlocks(url)
  await Promise.all([database.kill(), redis.kill()])
  rmSync(heapFile, { force: true })

  const series = seriesOf(figures)
  mkdirSync('build', { recursive: true })
  writeFileSync('build/soak.svg', svgPlot(series, minutes))
  const responses = countResponses(writers.attempts)
  const report = [
    `${minutes} minutes, ${restarts} restarts, ${writers.acknowledged.length} writes: ${JSON.stringify(responses)}, ${lost.length} lost, ${doubled} doubled, ${deadlocks} deadlocks`,
    textPlot(series, 60),
    ...sizes
      .slice(0, LARGEST)
      .map(
        ({ name, bytes }) =>
          `${name.padEnd(36)} ${(bytes / MEBIBYTE).toFixed(1).padStart(8)} MiB ${(bytes / writers.acknowledged.length).toFixed(0).padStart(6)} bytes a write`,
      ),
    'written: build/soak.svg',
  ]
  console.log(report.join('\n'))
  return [
    ...(lost.length === 0 ? [] : [`${lost.length} lost`]),
    ...(doubled === 0 ? [] : [`${doubled} doubled`]),
    ...(deadlocks === 0 ? [] : [`${deadlocks} deadlocks in the database`]),
    ...(responses.denied === 0 ? [] : [`${responses.denied} denied`]),
    ...(books.code === 0 ? [] : [`ledger check: ${books.output.trim()}`]),
    ...growth(figures),
  ]
}

/** Restarts one host after the other until a moment, and resolves to how many restarts there were. */
async function restartInTurn(hosts: readonly OpsHost[], until: number): Promise<number> {
  let restarts = 0
  for (; performance.now() + RESTART_MS < until; restarts += 1) {
    await sleep(RESTART_MS)
    const host = hosts[restarts % hosts.length] as OpsHost
    await host.stop('SIGTERM')
    await host.start()
  }
  return restarts
}

function processFigures(pid: number, heapFile: string): Pick<Figures, 'heap' | 'resident' | 'handles'> {
  const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return {
    heap: Number(readFileSync(heapFile, 'utf8')) / MEBIBYTE,
    resident: Number(resident) / 1024,
    handles: readdirSync(`/proc/${pid}/fd`).length,
  }
}

/** The tables with their indexes, the largest first. */
async function tableSizes(
  url: string,
): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `select relname as name, pg_total_relation_size(relid)::float8 as bytes from pg_stat_user_tables
     order by 2 desc`,
  )
  await client.end()
  return rows as { name: string; bytes: number }[]
}

/** The deadlocks that the database has ended: hosts retry, so no client sees them. Complete once the connections of the hosts are closed. */
async function countDeadlocks(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  await client.end()
  return (rows[0] as { deadlocks: number }).deadlocks
}

function seriesOf(figures: readonly Figures[]): readonly Series[] {
  const series = (name: string, unit: string, of: (figures: Figures) => number): Series => ({
    name,
    unit,
    values: figures.map(of),
  })
  const rates = figures
    .slice(1)
    .map(({ writes }, at) => (writes - (figures[at] as Figures).writes) / (SAMPLE_MS / 1000))
  return [
    series('heap of a host', 'MiB', ({ heap }) => heap),
    series('memory of a host', 'MiB', ({ resident }) => resident),
    series('open files of a host', '', ({ handles }) => handles),
    { name: 'writes', unit: 'a second', values: rates },
    series('tables', 'MiB', ({ tables }) => tables),
    series('keys in Redis', '', ({ redisKeys }) => redisKeys),
  ]
}

/** What grew from the second third to the last one. */
function growth(figures: readonly Figures[]): readonly string[] {
  const third = Math.floor(figures.length / 3)
  const median = (values: readonly number[]): number =>
    values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
  const grew = (of: (figures: Figures) => number): boolean => {
    const values = figures.map(of)
    return median(values.slice(-third)) > GROWTH * median(values.slice(third, 2 * third))
  }
  return [
    ...(grew(({ heap }) => heap) ? ['the heap of a host grew'] : []),
    ...(grew(({ handles }) => handles) ? ['the open files of a host grew'] : []),
    ...(grew(({ redisKeys }) => redisKeys) ? ['the keys in Redis grew'] : []),
  ]
}
