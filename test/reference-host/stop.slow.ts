// A host ends in time, whatever its stores do and whoever starts it.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { bearer, bootstrapUser, request, spawnHost } from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { printed, startPostgres, startRedis } from '../harness/services.ts'
import { PROGRAMS } from '../harness/programs.ts'
import { temporaryFolder } from '../harness/files.ts'

const { env: SECRETS, drop } = await hostStoresEnv('postgres')
t.teardown(drop)

/** Stops a host while a store hangs. Resolves to how long it took, in ms. */
async function stopWhileHanging(t: Test, store: 'Postgres' | 'Redis'): Promise<number> {
  const [database, redis] = await Promise.all([startPostgres(), startRedis([])])
  t.teardown(() => Promise.all([database.stop(), redis.stop()]))
  const host = await spawnHost(temporaryFolder(t), {
    ...SECRETS,
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
  })
  t.teardown(() => host.stop('SIGKILL'))
  const user = await bootstrapUser((path, options) => request(host.url, path, options))
  const hanging = store === 'Postgres' ? database : redis
  hanging.freeze()
  const pay = request(host.url, '/user/v1/subscriptions/payin', {
    body: { amountCents: 1 },
    headers: { ...bearer(user.token), 'idempotency-key': 'while-the-store-hangs' },
  }).catch(() => undefined)
  await sleep(300)
  const startedAt = performance.now()
  t.equal(await host.stop('SIGTERM'), 0)
  const ms = Math.round(performance.now() - startedAt)
  await pay
  return ms
}

for (const store of ['Postgres', 'Redis'] as const)
  t.test(`a host ends within 10 s while ${store} hangs`, async t => {
    let ms = Infinity
    // The least of three: a busy machine may do something else meanwhile.
    for (let tries = 0; tries < 3 && ms >= 10_500; tries += 1) ms = await stopWhileHanging(t, store)
    t.ok(ms < 10_500, `${ms} ms`)
    t.comment(`measured: stopped in ${ms} ms while ${store} hung`)
  })

/** Starts a host as the first process of a container: it gets only the signals that it listens for. */
function firstProcess(t: Test, env: Record<string, string>): ChildProcess {
  const host = [process.execPath, PROGRAMS.host]
  const rights = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const child = spawn('unshare', ['--pid', '--fork', '--kill-child', ...rights, ...host], {
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: temporaryFolder(t), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

/** Sends a signal to the host that `unshare` has started, if it has. */
function signalHost({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  const [host] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  if (host !== undefined) process.kill(Number(host), signal)
}

t.test('a host that is the first process of a container ends on SIGTERM', async t => {
  const child = firstProcess(t, {})
  await printed(child, 'Ready.')
  const ended = once(child, 'exit')
  signalHost(child, 'SIGTERM')
  t.same(await ended, [0, null])
})

t.test('such a host ends on SIGTERM also while it waits for its database', async t => {
  const sockets = new Set<Socket>()
  const silent = createServer(socket => sockets.add(socket.on('error', () => {})))
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const child = firstProcess(t, {
    ...SECRETS,
    DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres`,
  })
  const ended = once(child, 'exit')
  await once(silent, 'connection')
  signalHost(child, 'SIGTERM')
  t.same(await ended, [143, null])
})
