// Payments a second under one cap, each a reservation and its settlement, by 1, 16 and 1,000 callers on two hosts with 10 connections each:
// with the lock of the account, and with slices. Exits with 1 if more than the cap is used.
import { fromPgPool } from '@gatewright/kernel/sql'
import type { SpendStorage } from '@gatewright/scope-guard'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { extent } from './extent.ts'
import { columns } from './report.ts'

const HOSTS = 2
const MILLISECONDS = extent(4000, 50)
const AMOUNT = 100

const schema = uniqueName()
const pools = [await openPostgresPool(schema, 10), await openPostgresPool(schema, 10)]
const databases = pools.map(pool => fromPgPool(pool, { prepare: true }))
await migrateSpends(databases[0]!)

interface Result {
  readonly perSecond: number
  readonly denied: number
  readonly p50: number
  readonly p99: number
}

/** Pays under a cap by so many callers at once for a time. Throws if more than the cap is used, or another amount than was paid. */
async function pay(hosts: readonly SpendStorage[], callers: number, cap: number): Promise<Result> {
  const account = uniqueName()
  const times: number[] = []
  let denied = 0
  const started = performance.now()
  const call = async (host: SpendStorage): Promise<void> => {
    while (performance.now() - started < MILLISECONDS) {
      const begun = performance.now()
      const hold = crypto.randomUUID()
      const item = { counter: 'day', unit: 'cents', cap, amount: AMOUNT, expiresAt: null } as const
      const { outcome } = await host.reserve(account, hold, [item], Date.now())
      if (outcome === 'held') {
        await host.settle(account, hold, AMOUNT)
        times.push(performance.now() - begun)
      } else denied += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, index) => call(hosts[index % HOSTS]!)))
  const seconds = (performance.now() - started) / 1000
  await hosts[0]!.collect(1000, Date.now() + 3_600_000)
  const [day] = await postgresSpends(databases[0]!).usage(account, ['day'])
  const paid = times.length * AMOUNT
  if (day?.used !== paid || paid > cap)
    throw new Error(`${paid} was paid under a cap of ${cap}, and ${day?.used} is used`)
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.ceil(times.length * share) - 1] ?? 0
  return { perSecond: times.length / seconds, denied, p50: at(0.5), p99: at(0.99) }
}

const forms: Readonly<Record<string, readonly SpendStorage[]>> = {
  lock: databases.map(db => postgresSpends(db)),
  slices: databases.map(db => postgresSpends(db, { escrow: {} })),
}
const lines: string[][] = []
for (const callers of [1, 16, 1000]) {
  for (const [name, hosts] of Object.entries(forms)) {
    await pay(hosts, callers, 10 ** 9)
    const { perSecond, p50, p99 } = await pay(hosts, callers, 10 ** 12)
    lines.push([name, String(callers), perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1)])
  }
}
console.log('payments under one cap, two hosts: times in ms')
console.log(columns([['', 'callers', 'a second', 'p50', 'p99'], ...lines], [0]).join('\n'))
const nearCap = await pay(forms['slices']!, 16, 2_000_000)
console.log(`slices, a cap of 20,000 payments: ${nearCap.denied} denied, none over the cap`)
await pools[0]!.query(`drop schema ${schema} cascade`)
await Promise.all(pools.map(pool => pool.end()))
