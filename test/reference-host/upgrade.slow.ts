import { EventEmitter, once } from 'node:events'
import t from 'tap'
import {
  request,
  spawnHost,
  type HostProcess,
  type HttpResponse,
  type RequestOptions,
} from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { newMoneyUser, type MoneyUser } from './harness/money.ts'
import { runNode } from '../harness/node.ts'
import { PROGRAMS } from '../harness/programs.ts'

const THIS = [PROGRAMS.host]
const COMMAND = PROGRAMS.command
const NEXT = ['build/test/reference-host/next-version.child.js']

const stores = await hostStoresEnv('postgres')
const env = { ...stores.env, RATE_LIMITS: 'off', LOG_LEVEL: 'error', DRAIN_SECONDS: '1' }

/** The hosts that get requests. */
const serving = new Set<HostProcess>()
t.teardown(async () => {
  await Promise.all([...serving].map(host => host.stop('SIGTERM')))
  await stores.drop()
})
/** Starts a host of the next version with this many versions of its tables; 1 is this version. */
const start = (version: number): Promise<HostProcess> =>
  spawnHost('unused', { ...env, NEXT_VERSION: String(version) }, version === 1 ? THIS : NEXT)
const add = async (version: number): Promise<HostProcess> => {
  const host = await start(version)
  serving.add(host)
  return host
}
const remove = async (host: HostProcess): Promise<void> => {
  serving.delete(host)
  await host.stop('SIGTERM')
}
let turn = 0
const send = (path: string, options?: RequestOptions): Promise<HttpResponse> => {
  const hosts = [...serving]
  turn += 1
  return request((hosts[turn % hosts.length] as HostProcess).url, path, options)
}
const migrate = (version: number, ...flags: string[]): ReturnType<typeof runNode> =>
  runNode([...(version === 1 ? [COMMAND] : NEXT), 'migrate', ...flags], {
    PATH: process.env['PATH'],
    ...env,
    NEXT_VERSION: String(version),
  })

const failures: string[] = []
const counts = { requests: 0, paid: 0 }
const finished = new EventEmitter()

/** Reads and writes money until it is stopped. */
function load(users: readonly MoneyUser[], to: { readonly walletAddress: string }): () => Promise<void> {
  const stop = new AbortController()
  const one = async (what: string, call: Promise<HttpResponse>): Promise<void> => {
    const response = await call.catch((error: unknown) => ({ status: 0, body: String(error) }))
    counts.requests += 1
    finished.emit('request')
    if (response.status !== 200) failures.push(`${what}: ${response.status} ${JSON.stringify(response.body)}`)
    else if (what === 'payment') counts.paid += 1
  }
  const loop = async (user: MoneyUser): Promise<void> => {
    while (!stop.signal.aborted) {
      await one('payment', user.write('/payments', { to, amountCents: 1 }))
      await one('deposit', user.fund(1))
      await one('transactions', user.read('/transactions'))
      await one('notifications', user.read('/notifications'))
    }
  }
  const loops = users.map(loop)
  return async () => {
    stop.abort()
    await Promise.all(loops)
  }
}

/** Resolves after this many further requests. */
async function more(count: number): Promise<void> {
  const until = counts.requests + count
  while (counts.requests < until) await once(finished, 'request')
}

await t.test(
  'hosts of two versions serve under load, forward and back, without a failed request',
  async t => {
    const old = [await add(1), await add(1)] as const
    const users = await Promise.all(Array.from({ length: 6 }, () => newMoneyUser(send)))
    const receiver = await newMoneyUser(send)
    for (const user of users) t.equal((await user.fund(100_000)).status, 200)
    const before = await receiver.balance()
    const stop = load(users, { walletAddress: receiver.address })
    await more(100)

    t.equal((await migrate(1, '--check')).code, 0)
    t.equal((await migrate(2, '--check')).code, 3)
    t.equal((await migrate(2)).code, 0)
    await more(100)
    const newer = [await add(2), await add(2)] as const
    await more(100)
    const retried = await Promise.all(old.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))
    const plans = retried.map(text => Number(/retries_total\{reason="plan"\} (\d+)/.exec(text)?.[1]))
    t.ok(Math.max(...plans) > 0, `statements were prepared before the tables changed: ${plans.join()}`)
    for (const host of old) await remove(host)
    await more(100)

    const again = [await add(1), await add(1)] as const
    await more(100)
    for (const host of newer) await remove(host)
    await more(100)
    await stop()
    t.same(failures, [])
    t.comment(`measured: ${counts.requests} requests, ${failures.length} failed`)

    t.equal(await receiver.balance(), before + counts.paid, 'each payment arrived once')
    const check = await runNode([COMMAND, 'ledger', 'check'], { PATH: process.env['PATH'], ...env })
    t.equal(check.code, 0, check.output)
    for (const host of again) await remove(host)
  },
)

await t.test(
  'a host that is too old for a version of the tables becomes not ready, and does not start',
  async t => {
    const old = await start(1)
    const middle = await start(2)
    t.teardown(() => Promise.all([old.stop('SIGTERM'), middle.stop('SIGTERM')]))
    t.equal((await migrate(3)).code, 0)
    const readiness = async ({ url }: HostProcess): Promise<unknown> => (await fetch(`${url}/readyz`)).json()
    while ((await fetch(`${old.url}/readyz`)).status === 200);
    t.match(await readiness(old), { dependencies: { tables: 'down' } })
    t.equal((await fetch(`${middle.url}/readyz`)).status, 200)
    await t.rejects(
      start(1),
      /has version 3, which needs software that knows version 2, this software knows version 1 of namespace host: start the newer software/,
    )
    t.equal((await migrate(1, '--check')).code, 1)
  },
)
