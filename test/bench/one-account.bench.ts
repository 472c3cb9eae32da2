// Payments a second from one account by 1, 4 and 16 clients at once on Postgres, while balances are folded every 5 s as in a host: the
// movements of money alone, on a pool of 10 connections, then over HTTP, with the time that payments of another account take meanwhile.
// Then the deadlocks that the database has counted.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createLedger, ledgerAccounts, migrateLedger } from '@gatewright/host/internal'
import { fromPgPool } from '@gatewright/kernel/sql'
import pg from 'pg'
import { startChild } from '../harness/child.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { internals } from '../harness/internals.ts'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { extent } from './extent.ts'
import { load, type Request } from './load.ts'

interface Started {
  readonly port: number
  readonly headers: readonly Record<string, string>[]
}

const { env, drop } = await hostStoresEnv('postgres')
const child = startChild(new URL('./servers/one-account.child.js', import.meta.url), [JSON.stringify(env)])
const [{ port, headers }] = (await once(child, 'message')) as [Started]
const [ann, bob] = headers as [Record<string, string>, Record<string, string>]

function payment(from: Record<string, string>, to: Record<string, string>): Request {
  return {
    path: '/user/v1/payments',
    method: 'POST',
    headers: {
      authorization: from['authorization'] as string,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ to: { walletAddress: to['x-wallet'] }, amountCents: 1 }),
  }
}

async function deadlocks(): Promise<number> {
  const client = new pg.Client({ connectionString: process.env['TEST_POSTGRES_URL'] })
  await client.connect()
  const text = 'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()'
  const { rows } = await client.query<{ deadlocks: number }>(text).finally(() => client.end())
  return rows[0]?.deadlocks ?? 0
}

const at = (times: readonly number[], share: number): string =>
  (times[Math.ceil(times.length * share) - 1] ?? 0).toFixed(1)

/** Sends payments of the other account one after another until the signal, and resolves to their times in ms, in order. */
async function payMeanwhile(signal: AbortSignal): Promise<number[]> {
  const times: number[] = []
  while (!signal.aborted) {
    const { path, ...options } = payment(bob, ann)
    const started = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}${path}`, options)
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`the other account got ${response.status}`)
    times.push(performance.now() - started)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return times.sort((a, b) => a - b)
}

async function measure(connections: number, count: number): Promise<void> {
  const requests = Array.from({ length: count + connections }, () => payment(ann, bob))
  const end = new AbortController()
  const other = payMeanwhile(end.signal)
  const started = performance.now()
  await load({ port, requests, count, connections, status: 200 })
  const perSecond = count / ((performance.now() - started) / 1000)
  end.abort()
  const times = await other
  console.log(
    `  ${String(connections).padStart(2)} clients: ${perSecond.toFixed(0)} payments/s; another account waits ${at(times, 0.5)} ms (p50), ${at(times, 0.99)} ms (p99)`,
  )
}

/** Moves money from one account by so many clients at once. */
async function measureMoves(pool: pg.Pool, clients: number, count: number): Promise<void> {
  const db = fromPgPool(pool, { prepare: true })
  const ledger = createLedger(db)
  const money = internals.createMoney(ledger)
  const fold = setInterval(() => void ledger.fold(200, error => console.error(error)), 5000)
  let left = count
  const pay = async (): Promise<void> => {
    while (left-- > 0) {
      const id = uniqueName()
      const common = { type: 'payment', status: 'completed', amountCents: 1, description: 'Payment' } as const
      const side = (part: string) => ({ kind: 'payment', id, part })
      const result = await db.transaction(tx =>
        money.move(
          tx,
          {
            id,
            debit: ledgerAccounts.user('ann'),
            credit: ledgerAccounts.user('bob'),
            amountCents: 1,
            cause: 'payment',
            cover: { exempt: 'operator_correction' },
          },
          [
            { ...common, accountId: 'ann', source: side('sent'), direction: 'debit' },
            { ...common, accountId: 'bob', source: side('received'), direction: 'credit' },
          ],
          Date.now(),
        ),
      )
      if (result !== 'done') throw new Error(`a payment was ${result}`)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: clients }, pay))
  const perSecond = count / ((performance.now() - started) / 1000)
  clearInterval(fold)
  console.log(`  ${String(clients).padStart(2)} clients: ${perSecond.toFixed(0)} payments/s`)
}

async function compareMoves(): Promise<void> {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 10)
  const db = fromPgPool(pool)
  await migrateLedger(db)
  const funds = {
    id: 'funds',
    debit: 'outside:bench',
    credit: ledgerAccounts.user('ann'),
    amountCents: 1e9,
    cause: 'x',
  } as const
  await db.transaction(tx => createLedger(db).transfer(tx, funds, Date.now()))
  console.log('one account: movements of money')
  for (const clients of [1, 4, 16]) await measureMoves(pool, clients, extent(5000, 20))
  await pool.query(`drop schema ${schema} cascade`)
  await pool.end()
}

try {
  const before = await deadlocks()
  await compareMoves()
  console.log('one account: payments over HTTP; the first line is a warm-up')
  for (const clients of [4, 1, 4, 16]) await measure(clients, extent(1500, 20))
  // The database reports its counters up to a second late.
  await new Promise(resolve => setTimeout(resolve, extent(2000, 1)))
  console.log(`  deadlocks: ${(await deadlocks()) - before}`)
} finally {
  child.disconnect()
  await once(child, 'exit')
  await drop()
}
