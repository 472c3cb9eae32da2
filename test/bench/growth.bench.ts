// What grows with the tables: time and CPU of a payment, each list, each chore and `ledger check`, on a small and a large database side by
// side. Rows are real ones, copied by SQL with other ids, nearly all of one account. BENCH_ROWS: rows of the largest table, small and large, by
// default 10000,1000000; on SQLite the large one has a tenth. BENCH_ROUNDS (default 9).
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, orderOfRound } from './arithmetic.ts'
import { extent, ONCE } from './extent.ts'
import { openGrown, type Grown } from './growth/grown.ts'
import { columns, digits } from './report.ts'

const [SMALL = 0, LARGE = 0] = ONCE
  ? [100, 400]
  : (process.env['BENCH_ROWS'] ?? '10000,1000000').split(',').map(Number)
const ROUNDS = extent(Number(process.env['BENCH_ROUNDS'] ?? 9), 1)
/** What costs more than so many times as much on the large database grows. */
const FLAT = 1.2

/** Less CPU than this for both is not compared. */
const LEAST_MICROS = 200

/** One subject on one database, per call. */
interface Cost {
  readonly ms: number
  /** CPU of the host and of Postgres, in microseconds. */
  readonly micros: number
}

interface Line {
  readonly stores: string
  readonly name: string
  readonly small: Cost
  readonly large: Cost
}

async function compare(stores: Grown['stores'], sizes: readonly [number, number]): Promise<Line[]> {
  const grown = [await openGrown(stores, sizes[0]), await openGrown(stores, sizes[1])] as const
  for (const { rows } of grown)
    console.log(
      `  ${stores}: ${Object.entries(rows)
        .map(([table, count]) => `${table} ${count}`)
        .join(', ')}`,
    )
  const lines: Line[] = []
  try {
    for (const name of grown[0].subjects) {
      const costs: [Cost[], Cost[]] = [[], []]
      // The first round reads pages and compiles code.
      for (let round = -1; round < ROUNDS; round++)
        for (const side of orderOfRound(round + 1, 2)) {
          const cost = await (grown[side] as Grown).measure(name)
          if (round >= 0) costs[side as 0 | 1].push(cost)
        }
      const middle = (all: readonly Cost[]): Cost => ({
        ms: median(all.map(({ ms }) => ms)),
        // Of all rounds: Linux counts hundredths of a second.
        micros: all.reduce((sum, { micros }) => sum + micros, 0) / all.length,
      })
      lines.push({ stores, name, small: middle(costs[0]), large: middle(costs[1]) })
    }
    return lines
  } finally {
    for (const each of grown) await each.close()
  }
}

const order = (times: number, sizes: readonly [number, number]): string =>
  times <= FLAT ? 'flat' : `n^${(Math.log(times) / Math.log(sizes[1] / sizes[0])).toFixed(2)}`

const sizesOf = { postgres: [SMALL, LARGE], embedded: [SMALL, Math.max(SMALL * 2, LARGE / 10)] } as const
const lines: Line[] = []
for (const stores of ['postgres', 'embedded'] as const)
  lines.push(...(await compare(stores, sizesOf[stores])))
const head = ['stores', '', 'small ms', 'large ms', 'times', 'small CPU µs', 'large CPU µs', 'times', 'order']
const rows = lines.map(({ stores, name, small, large }) => {
  const ms = large.ms / small.ms
  const micros = small.micros + large.micros < LEAST_MICROS ? ms : large.micros / small.micros
  return [
    stores,
    name,
    ...[small.ms, large.ms, ms, small.micros, large.micros, micros].map(digits),
    // Others on the machine change the time, and few hundredths of a second say little about CPU.
    order(Math.min(ms, micros), sizesOf[stores as 'postgres']),
  ]
})
console.log(columns([head, ...rows], [0, 1]).join('\n'))
if (!ONCE) {
  mkdirSync(join('build', 'bench'), { recursive: true })
  const result = { sizesOf, lines, at: new Date().toISOString() }
  writeFileSync(join('build', 'bench', 'growth.json'), `${JSON.stringify(result, null, 2)}\n`)
}
