// Faults of a worker of Citus under payments: it is killed and comes back, the second phase of commits does not reach it, and a shard moves.
// `CITUS_WORKER` is the data folder of one worker. The role must be a superuser.
import { randomUUID } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { manualClock } from '@gatewright/kernel/testing'
import pg from 'pg'
import t, { type Test } from 'tap'
import { gatewright } from '../harness/gatewright.ts'
import { bearer, bootstrapUser, startTestHost, type WalletUser } from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { done } from '../reference-host/harness/host-work.ts'
import { moneyUser } from '../reference-host/harness/money.ts'

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
    let readyMeanwhile: { readonly dependencies: Record<string, string> }[] = []
    const counts = await underPayments(async () => {
      await delay(3000)
      control('stop', '-m', 'immediate')
      await delay(6000)
      clock.advance(1000)
      readyMeanwhile = await Promise.all(
        hosts.map(
          async ({ url }) => (await (await fetch(`${url}/readyz`)).json()) as (typeof readyMeanwhile)[number],
        ),
      )
      control('start', '-l', '/dev/null')
      await delay(6000)
    })
    t.comment(
      `measured: responses ${JSON.stringify(counts)}; /readyz while it was down: ${JSON.stringify(readyMeanwhile)}`,
    )
    for (const readiness of readyMeanwhile) {
      t.match(readiness, { status: 'ready', dependencies: { database: 'ok' } })
      const workers = Object.entries(readiness.dependencies).filter(([name]) => name.startsWith('worker '))
      t.equal(workers.filter(([, state]) => state === 'down').length, 1, 'it names the lost part')
      t.ok(workers.length > 1)
    }
    t.ok((counts['503'] ?? 0) > 0, 'it was down')
    t.ok((counts['200'] ?? 0) > 0)
  },
)

/** Runs a statement on a new connection, because Citus keeps connections to machines with one that it has. */
async function alone(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: env['DATABASE_URL'] as string })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/** A proxy before a worker that cuts each connection which ends a transaction in its second phase, while `cuts` is set. */
async function beforeWorker(t: Test, worker: { readonly host: string; readonly port: number }) {
  const state = { cuts: false, cut: 0 }
  const server = createServer(client => {
    const upstream = connect(worker.port, worker.host)
    const destroy = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('error', destroy).on('close', destroy)
    upstream.on('data', (bytes: Buffer) => client.write(bytes))
    client.on('data', (bytes: Buffer) => {
      if (!state.cuts || !bytes.includes('COMMIT PREPARED')) {
        upstream.write(bytes)
        return
      }
      state.cut += 1
      destroy()
    })
    t.teardown(destroy)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { state, port: (server.address() as AddressInfo).port }
}

t.test('the second phase of commits does not reach a worker: money is right after the recovery', async t => {
  const { rows } = await pool.query<{ id: number; host: string; port: number }>(
    `select nodeid as id, nodename as host, nodeport as port from pg_dist_node
      where isactive and shouldhaveshards order by nodeid limit 1`,
  )
  const [worker] = rows
  if (!worker) throw new Error('there is no worker')
  const front = await beforeWorker(t, worker)
  const lead = async (host: string, port: number): Promise<void> => {
    await alone('select start_metadata_sync_to_all_nodes()')
    await alone(`select citus_update_node(${worker.id}, '${host}', ${port})`)
    await alone('select start_metadata_sync_to_all_nodes()')
  }
  // The proxy reads what the machines send each other.
  await pool.query("alter system set citus.node_conninfo = 'sslmode=disable'")
  await pool.query('select pg_reload_conf()')
  t.teardown(async () => {
    await lead(worker.host, worker.port)
    await pool.query('alter system reset citus.node_conninfo')
    await pool.query('select pg_reload_conf()')
  })
  await lead('127.0.0.1', front.port)
  const leaving = await Promise.all(
    Array.from({ length: 10 }, () => bootstrapUser(first.send, { sessionTtlSeconds: 86_400 }, clock.now())),
  )
  // This pair runs its chores, so the second one follows what the first one revokes.
  const pair = [await startTestHost(env), await startTestHost(env)] as const
  t.teardown(() => Promise.all(pair.map(host => host.close())))
  const revokedMs: number[] = []
  const counts = await underPayments(async () => {
    await delay(1000)
    front.state.cuts = true
    for (const { key, token } of leaving) {
      const headers = bearer(token)
      t.equal((await pair[1].send('/user/v1/balances', { headers })).status, 200)
      const answer = await pair[0].send(`/user/v1/keys/${key.split('_')[3]}`, { method: 'DELETE', headers })
      t.equal(answer.status, 200, JSON.stringify(answer.body))
      const startedAt = performance.now()
      while ((await pair[1].send('/user/v1/balances', { headers })).status !== 401) await delay(20)
      revokedMs.push(Math.round(performance.now() - startedAt))
    }
    await delay(3000)
    front.state.cuts = false
    await pool.query('select recover_prepared_transactions()')
  })
  t.comment(
    `measured: ${front.state.cut} second phases cut; responses ${JSON.stringify(counts)}; ms until the other host denied: ${revokedMs.join(', ')}`,
  )
  t.ok(front.state.cut > 0, 'second phases were cut')
  t.ok(
    Math.max(...revokedMs) < 20_000,
    'a revocation is one commit of one machine, and waits for no recovery',
  )
  t.same((await pool.query('select gid from pg_prepared_xacts')).rows, [])
})

t.test('the ledger check is right under payments', async t => {
  const checks: { readonly code: number | null; readonly output: string }[] = []
  await underPayments(async () => {
    for (let count = 0; count < 4; count++) checks.push(await gatewright(['ledger', 'check'], env))
  })
  for (const { code, output } of checks) t.equal(code, 0, output)
})

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
    await alone(
      `select citus_move_shard_placement(${move?.shard}, '${move?.host}', ${move?.at}, '${move?.tohost}', ${move?.to}, 'force_logical')`,
    )
  })
  t.comment(`measured: responses ${JSON.stringify(counts)}`)
  t.same(Object.keys(counts), ['200'])
})
