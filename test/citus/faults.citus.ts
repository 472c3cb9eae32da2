// Faults of a worker of Citus under payments: it is killed and comes back, and a shard moves. `CITUS_WORKER` is the data folder of one worker.
import { randomUUID } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { manualClock } from '@gatewright/kernel/testing'
import pg from 'pg'
import t from 'tap'
import { gatewright } from '../harness/gatewright.ts'
import { bootstrapUser, startTestHost, type WalletUser } from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { done } from '../harness/host-work.ts'
import { moneyUser } from '../harness/money.ts'

const WORKER = process.env['CITUS_WORKER']
const START_CENTS = 100_000
const ACCOUNTS = 8
const CLIENTS = 4

t.setTimeout(900_000)

/** Runs `pg_ctl` as the owner of the worker's data. */
function control(...args: readonly string[]): void {
  const folder = WORKER as string
  const { uid, gid } = statSync(folder)
  // A server connects to others with the certificates in the home of its owner, if there are any.
  const env = { ...process.env, HOME: folder }
  execFileSync('pg_ctl', ['-D', folder, '-w', ...args], { uid, gid, env, stdio: 'ignore' })
}

const stores = await hostStoresEnv('postgres')
const clock = manualClock(Date.now())
const env: Record<string, string> = { ...stores.env, RATE_LIMITS: 'off' }
const hosts = [await startTestHost(env, clock), await startTestHost(env, clock)] as const
const [first] = hosts
const pool = new pg.Pool({ connectionString: env['DATABASE_URL'] as string, max: 1 })
pool.on('error', () => {})
t.teardown(async () => {
  for (const host of hosts) await host.close()
  await pool.end()
  await stores.drop()
})
const users: WalletUser[] = []
for (let index = 0; index < ACCOUNTS; index++) {
  const user = await bootstrapUser(first.send, { sessionTtlSeconds: 86_400 }, clock.now())
  done(await moneyUser(first.send, user).fund(START_CENTS))
  users.push(user)
}

/** Pays between all accounts, each payment with its key until it is answered with 200, while `fault` happens. Checks all balances. */
async function underPayments(fault: () => Promise<void>): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  const balances = new Map(users.map(user => [user, 0]))
  const ended = new AbortController()
  const client = async (index: number): Promise<void> => {
    for (let round = 0; !ended.signal.aborted; round++) {
      const from = users[(index + round) % ACCOUNTS] as WalletUser
      const to = users[(index + 3 * round + 1) % ACCOUNTS] as WalletUser
      if (from === to) continue
      const key = randomUUID()
      for (;;) {
        const { send } = hosts[(index + round) % 2] as (typeof hosts)[number]
        const body = { to: { walletAddress: to.address }, amountCents: 1 + (round % 5) }
        const { status } = await moneyUser(send, from).write('/payments', body, key)
        counts[status] = (counts[status] ?? 0) + 1
        if (status === 200) {
          balances.set(from, (balances.get(from) as number) - body.amountCents)
          balances.set(to, (balances.get(to) as number) + body.amountCents)
          break
        }
        await delay(100)
      }
    }
  }
  const before = await read()
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)))
  await fault().finally(() => {
    ended.abort()
  })
  await clients
  const after = await read()
  for (const [index, user] of users.entries())
    t.equal(
      (after[index] as number) - (before[index] as number),
      balances.get(user),
      `balance of account ${index}`,
    )
  const check = await gatewright(['ledger', 'check'], env)
  t.equal(check.code, 0, check.output)
  return counts
}

async function read(): Promise<number[]> {
  const balances: number[] = []
  for (const user of users) {
    const { body } = done(await moneyUser(first.send, user).read('/balances'))
    balances.push(Number(/"availableCents":(-?\d+)/.exec(JSON.stringify(body))?.[1]))
  }
  return balances
}

t.test(
  'a killed worker: payments of the others go on, and no balance is wrong afterwards',
  { skip: WORKER === undefined && 'CITUS_WORKER is not set' },
  async t => {
    let readyMeanwhile: number[] = []
    const counts = await underPayments(async () => {
      await delay(3000)
      control('stop', '-m', 'immediate')
      await delay(6000)
      readyMeanwhile = await Promise.all(hosts.map(async ({ url }) => (await fetch(`${url}/readyz`)).status))
      control('start', '-l', '/dev/null')
      await delay(6000)
    })
    t.comment(
      `measured: responses ${JSON.stringify(counts)}; /readyz while it was down: ${readyMeanwhile.join(', ')}`,
    )
    t.ok((counts['503'] ?? 0) > 0, 'it was down')
    t.ok((counts['200'] ?? 0) > 0)
  },
)

t.test('a shard moves under payments without an error', async t => {
  const counts = await underPayments(async () => {
    const { rows } = await pool.query<{
      shard: string
      at: number
      to: number
      host: string
      tohost: string
    }>(
      `select s.shardid as shard, s.nodename as host, s.nodeport as at, n.nodename as tohost, n.nodeport as to
        from pg_catalog.citus_shards s join pg_dist_node n on n.isactive and n.shouldhaveshards and n.nodeport <> s.nodeport
        where s.table_name = 'gw_ledger_legs'::regclass limit 1`,
    )
    const [move] = rows
    await pool.query(
      "select citus_move_shard_placement($1::bigint, $2, $3::integer, $4, $5::integer, 'force_logical')",
      [move?.shard, move?.host, move?.at, move?.tohost, move?.to],
    )
  })
  t.comment(`measured: responses ${JSON.stringify(counts)}`)
  t.same(Object.keys(counts), ['200'])
})
