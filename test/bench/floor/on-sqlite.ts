import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atExit } from '../../harness/at-exit.ts'
import { startChild } from '../../harness/child.ts'
import { spawnHost } from '../../harness/host.ts'
import { median, orderOfRound, spread } from '../arithmetic.ts'
import { extent, ONCE } from '../extent.ts'
import { RATE_LIMITS } from '../host-lines.ts'
import { columns, digits } from '../report.ts'
import { cpuOfProcess } from '../shared-stores/cpu.ts'
import { openPayers, payThroughHosts } from './through-hosts.ts'
import { timesOf, type LoadResult } from './times.ts'

const CLIENTS = ONCE ? [2] : [1, 16, 64]
const ACCOUNTS = extent(100, 4)

/** Something that makes payments. */
interface Side {
  readonly name: string
  readonly pid: number
  run(seconds: number): Promise<LoadResult>
  close(): Promise<unknown>
}

/** One sample of a side. Per payment: CPU in microseconds, and bytes that the process gave to the disk. */
interface Sample extends LoadResult {
  readonly micros: number
  readonly diskBytes: number
}

/** How many bytes a process has given to the disk so far (proc(5)). */
const diskBytesOf = (pid: number): number =>
  Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])

/** Payments by hand, as many in a commit as there are clients: so many requests can arrive while a commit is written. */
async function byHand(folder: string, together: number): Promise<Side> {
  const args = [join(folder, `by-hand-${together}.sqlite`), String(ACCOUNTS), String(together)]
  const child = startChild(new URL('./sqlite.child.js', import.meta.url), args)
  await once(child, 'message')
  return {
    name: `by hand, ${together} in a commit`,
    pid: child.pid as number,
    async run(seconds) {
      child.send(seconds)
      const [times] = (await once(child, 'message')) as [number[]]
      return timesOf(times, seconds)
    },
    async close() {
      child.disconnect()
    },
  }
}

async function throughHost(folder: string): Promise<readonly Side[]> {
  const host = await spawnHost(join(folder, 'host'), { RATE_LIMITS, LOG_LEVEL: 'error' })
  const payers = await openPayers(host.url, ACCOUNTS)
  return CLIENTS.map((clients, index) => ({
    name: `a host, ${clients} clients`,
    pid: host.pid,
    run: seconds => payThroughHosts([host], payers, { clients, accounts: ACCOUNTS, seconds }),
    close: async () => (index === 0 ? host.stop('SIGTERM') : undefined),
  }))
}

async function sampleOf({ pid, run }: Side, seconds: number): Promise<Sample> {
  const before = [cpuOfProcess(pid), diskBytesOf(pid)] as const
  const result = await run(seconds)
  const micros = (cpuOfProcess(pid) - before[0]) / result.payments
  return { ...result, micros, diskBytes: (diskBytesOf(pid) - before[1]) / result.payments }
}

/**
 * Compares payments through a host on its embedded SQLite with payments by hand, and prints a table: each number of clients beside as many
 * payments in a commit. Returns the samples of each side by its name.
 */
export async function compareOnSqlite(
  rounds: number,
  seconds: number,
): Promise<Readonly<Record<string, readonly Sample[]>>> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-floor-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const forget = atExit(remove)
  const floors = await Promise.all(CLIENTS.map(together => byHand(folder, together)))
  const hosts = await throughHost(folder)
  const sides = [...floors, ...hosts]
  const samples: Record<string, Sample[]> = {}
  // Compiles code and fills caches.
  for (const side of sides) await side.run(seconds)
  for (let round = 0; round < rounds; round++)
    for (const at of orderOfRound(round, sides.length)) {
      const side = sides[at] as Side
      samples[side.name] = [...(samples[side.name] ?? []), await sampleOf(side, seconds)]
    }
  await Promise.all(sides.map(({ close }) => close()))
  remove()
  forget()

  const figures = ['perSecond', 'micros', 'diskBytes', 'p50', 'p99'] as const
  const rowsOf = (index: number): string[][] => {
    const [floor, host] = [floors[index] as Side, hosts[index] as Side].map(({ name }) => samples[name]) as [
      Sample[],
      Sample[],
    ]
    const middle = (side: readonly Sample[]) =>
      figures.map(figure => digits(median(side.map(sample => sample[figure]))))
    const times = figures.map(figure => {
      const ratios = host.map((sample, round) => sample[figure] / (floor[round] as Sample)[figure])
      const { median: middle, low, high } = spread(ratios)
      return figure === 'perSecond' || figure === 'micros'
        ? `${middle.toFixed(2)} x (${low.toFixed(2)} .. ${high.toFixed(2)})`
        : `${middle.toFixed(2)} x`
    })
    return [
      [floors[index]?.name ?? '', ...middle(floor)],
      [hosts[index]?.name ?? '', ...middle(host)],
      ['host / by hand', ...times],
    ]
  }
  const head = ['SQLite', 'payments/s', 'CPU µs', 'disk bytes', 'p50 ms', 'p99 ms']
  console.log(columns([head, ...CLIENTS.flatMap((_, index) => rowsOf(index))], [0]).join('\n'))
  return samples
}
