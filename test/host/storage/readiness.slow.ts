// What a host says about itself on real servers that stop taking writes, lose some or fill up.
import { spawnSync } from 'node:child_process'
import { mkdirSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { faultProxy, type FaultProxy } from '@gatewright/kernel/testing'
import pg from 'pg'
import t, { type Test } from 'tap'
import { gatewright } from '../../harness/gatewright.ts'
import { bootstrapUser, request, spawnHost, type HostProcess } from '../../harness/host.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { startPostgres, type OwnService } from '../../harness/services.ts'
import { temporaryFolder } from '../../harness/files.ts'

const SECRETS = (await hostStoresEnv('postgres')).env
const MEBIBYTE = 2 ** 20
const LIMITS = {
  RATE_LIMITS: '{"documentsPerAddressPerMinute":100000,"bootstrapPerAddressPerMinute":100000}',
}

async function own<S extends OwnService>(t: Test, starting: Promise<S>): Promise<S> {
  const service = await starting
  t.teardown(() => service.stop())
  return service
}

/** A proxy in front of a server, as the address of a database is behind one. */
async function front(t: Test, url: string): Promise<FaultProxy> {
  const proxy = await faultProxy(url)
  t.teardown(() => proxy.close())
  return proxy
}

async function hostOn(t: Test, env: Record<string, string>): Promise<HostProcess> {
  const host = await spawnHost(temporaryFolder(t), { ...SECRETS, ...LIMITS, LOG_FORMAT: 'json', ...env })
  t.teardown(() => host.stop('SIGKILL'))
  return host
}

const ready = (host: HostProcess): Promise<{ status: number; dependencies: Record<string, string> }> =>
  request(host.url, '/readyz').then(({ status, body }) => ({
    status,
    dependencies: body['dependencies'] as Record<string, string>,
  }))

/** Waits, 30 s at most, until a dependency of a host is in a state, and returns what the host says then. */
async function becomes(host: HostProcess, name: string, state: 'ok' | 'down'): Promise<unknown> {
  for (const until = performance.now() + 30_000; ; ) {
    const said = await ready(host)
    if (said.dependencies[name] === state || performance.now() > until) return said
    await sleep(200)
  }
}

/** Waits, 15 s at most, until a host has logged a text. */
async function logs(t: Test, host: HostProcess, text: RegExp): Promise<void> {
  const until = performance.now() + 15_000
  while (!text.test(host.output()) && performance.now() < until) await sleep(50)
  t.match(host.output(), text)
}

async function sql(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

t.test('a host whose database was demoted is not ready, and serves again from the new primary', async t => {
  const first = await own(t, startPostgres())
  const second = await own(t, startPostgres({ primary: first.url }))
  const address = await front(t, first.url)
  const host = await hostOn(t, { DATABASE_URL: address.url })
  t.match(await ready(host), { status: 200, dependencies: { database: 'ok', history: 'ok', clock: 'ok' } })
  address.lead(second.url)
  t.match(await becomes(host, 'database', 'down'), { status: 503 })
  await logs(t, host, /not ready, database: it is a replica in recovery/)
  await sql(second.url, 'select pg_promote()')
  // Nobody cut the connections to the replica: the host replaces them by itself.
  t.match(await becomes(host, 'database', 'ok'), { status: 200, dependencies: { history: 'ok' } })
  await bootstrapUser((path, options) => request(host.url, path, options))
})

t.test('a promoted replica without the last writes is noticed, and an operator accepts it', async t => {
  const first = await own(t, startPostgres())
  const replication = await front(t, first.url)
  const second = await own(t, startPostgres({ primary: replication.url }))
  const address = await front(t, first.url)
  const env = { DATABASE_URL: address.url }
  const host = await hostOn(t, env)
  await ready(host)
  await sleep(1100)
  replication.silence()
  for (let n = 0; n < 2; n++) {
    await sleep(1100)
    t.match(await ready(host), { status: 200 })
  }
  await first.stop()
  await sql(second.url, 'select pg_promote()')
  address.lead(second.url)
  t.match(await becomes(host, 'history', 'down'), { status: 503, dependencies: { database: 'ok' } })
  await logs(t, host, /the database has lost history: it has heartbeats up to \S+Z, and had acknowledged/)
  const later = await hostOn(t, env)
  t.match(
    await ready(later),
    { status: 503, dependencies: { history: 'down' } },
    'hosts that start later know it',
  )
  const metrics = async (): Promise<string> => (await fetch(`${host.url}/metrics`)).text()
  for (const until = performance.now() + 10_000; performance.now() < until; await sleep(200))
    if (/gatewright_dependency_ready\{dependency="history"\} 0/.test(await metrics())) break
  t.match(await metrics(), /gatewright_dependency_ready\{dependency="history"\} 0/)
  const operator = { ...SECRETS, ...env }
  t.match(await gatewright(['history', 'list'], operator), { code: 0, output: /\d{4}-\d\d-\d\dT/ })
  t.match(await gatewright(['history', 'accept', '--yes'], operator), { code: 0, output: 'Accepted: 1.' })
  t.match(await becomes(host, 'history', 'ok'), { status: 200 })
  t.match(await becomes(later, 'history', 'ok'), { status: 200 })
})

/** A small file system in memory; undefined where this user may not mount one. */
function smallDisk(t: Test, mebibytes: number): string | undefined {
  const path = temporaryFolder(t)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0755`, 'tmpfs', path])
  if (mounted.status !== 0) return undefined
  t.teardown(() => spawnSync('umount', ['-l', path]))
  return path
}

/** Fills a file system up to some bytes. */
function fill(path: string, left = 0): string {
  const file = join(path, 'filler')
  const { bavail, bsize } = statfsSync(path)
  writeFileSync(file, Buffer.alloc(Math.max(bavail * bsize - left, 0)))
  return file
}

t.test('a host whose data folder is nearly full is not ready', async t => {
  const disk = smallDisk(t, 64)
  if (disk === undefined) return t.pass('this user may not mount a file system')
  const dataDir = join(disk, 'data')
  mkdirSync(dataDir)
  const host = await spawnHost(dataDir, { ...LIMITS, LOG_FORMAT: 'json' })
  t.teardown(() => host.stop('SIGKILL'))
  t.match(await ready(host), { status: 200, dependencies: { disk: 'ok' } })
  const file = fill(disk, 16 * MEBIBYTE - 4096)
  t.match(await becomes(host, 'disk', 'down'), { status: 503 })
  await logs(t, host, /not ready, disk: DATA_DIR has 15 MiB left, 16 are needed/)
  truncateSync(file)
  t.match(await becomes(host, 'disk', 'ok'), { status: 200 })
})

t.test('a host whose Postgres has a full disk is not ready', async t => {
  const disk = smallDisk(t, 160)
  if (disk === undefined) return t.pass('this user may not mount a file system')
  const database = await own(t, startPostgres({ below: disk }))
  const host = await hostOn(t, { DATABASE_URL: database.url })
  t.match(await ready(host), { status: 200, dependencies: { disk: 'ok', database: 'ok' } })
  fill(disk)
  // Rows still fit into the pages that exist, until a table has to grow.
  const failed = async (): Promise<boolean> => {
    const bootstrap = (): Promise<unknown> =>
      bootstrapUser((path, options) => request(host.url, path, options))
    await Promise.allSettled(Array.from({ length: 20 }, bootstrap))
    const { dependencies } = await ready(host)
    return dependencies['disk'] === 'down' || dependencies['database'] === 'down'
  }
  let down = false
  for (const until = performance.now() + 60_000; !down && performance.now() < until; ) down = await failed()
  t.ok(down)
  await logs(t, host, /not ready, (disk|database): /)
})

t.test('a host names the limit of files when it is the cause', async t => {
  const host = await spawnHost(temporaryFolder(t), { ...LIMITS, LOG_FORMAT: 'json' })
  t.teardown(() => host.stop('SIGKILL'))
  const limited = spawnSync('prlimit', ['--pid', String(host.pid), '--nofile=8:'])
  if (limited.status !== 0) return t.pass('prlimit is not installed')
  await logs(
    t,
    host,
    /not ready, files: no file descriptor is left: raise the limit of this process \(ulimit -n/,
  )
})
