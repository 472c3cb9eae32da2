import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { FaultCode } from '#packages/kernel/dist/fault.js'
import { faultProxy, type FaultProxy } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import type { Backend } from '../../../packages/host/dist/storage/backend.js'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { startProxiedRedisCluster } from '../../harness/databases/redis-cluster.ts'

type Storage = typeof import('../../../packages/host/dist/storage/redis.js') &
  typeof import('../../../packages/host/dist/storage/postgres.js')

const load = (file: string): Promise<object> =>
  import(`${process.cwd()}/packages/host/dist/storage/${file}.js`)
const { withRedis, postgresBackend } = Object.assign(
  {},
  ...(await Promise.all(['redis', 'postgres'].map(load))),
) as Storage

const UNAVAILABLE = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' satisfies FaultCode }
const LIMIT_MS = 500

/** A proxy in front of a store, which can make it silent. */
async function front(t: Test, url: string): Promise<FaultProxy> {
  const proxy = await faultProxy(url)
  t.teardown(() => proxy.close())
  return proxy
}

const database = { checks: {}, close: async () => {} } as unknown as Backend

for (const kind of ['a single Redis', 'a node of a cluster'] as const) {
  const open = async (t: Test): Promise<{ proxy: FaultProxy; count: () => Promise<boolean> }> => {
    const cluster = kind === 'a single Redis' ? undefined : await startProxiedRedisCluster()
    if (cluster) t.teardown(cluster.stop)
    const proxy = cluster?.proxy ?? (await front(t, process.env['TEST_REDIS_URL'] as string))
    const target = cluster ? { clusterUrls: [proxy.url] } : { url: proxy.url }
    const backend = await withRedis(database, target, LIMIT_MS)
    t.teardown(() => backend.close())
    const limiter = backend.limiter?.({ keyPrefix: proxy.url, points: 1000, duration: 60 })
    const count = async (): Promise<boolean> => Boolean(await limiter?.consume('bucket'))
    return { proxy, count }
  }
  /** Whether `holds` becomes true within 20 s. */
  const becomes = async (holds: () => Promise<boolean> | boolean): Promise<boolean> => {
    const until = performance.now() + 20_000
    while (performance.now() < until) {
      if (await holds()) return true
      await setImmediate()
    }
    return false
  }

  t.test(`connects again once for all commands when ${kind} went silent and was replaced`, async t => {
    const { proxy, count } = await open(t)
    const before = proxy.accepted
    proxy.silence()
    const late = await Promise.allSettled(Array.from({ length: 50 }, count))
    t.ok(
      late.every(({ status }) => status === 'rejected'),
      'whether they ran is unknown',
    )
    t.ok(await becomes(() => count().catch(() => false)))
    t.ok(proxy.accepted - before < 5, 'not once for each command')
  })

  t.test(`connects again when ${kind} goes silent in the handshake`, async t => {
    const { proxy, count } = await open(t)
    const before = proxy.accepted
    proxy.silence()
    t.ok(await becomes(() => proxy.accepted > before))
    proxy.silence()
    t.ok(await becomes(() => count().catch(() => false)))
  })
}

const secrets = {
  keyPeppers: [],
  dataKeys: [],
  operatorToken: undefined,
  signingKeyEncryptionKey: randomBytes(32),
}

t.test('a statement fails when Postgres stays silent', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  const proxy = await front(t, env['DATABASE_URL'] as string)
  const backend = postgresBackend(proxy.url, secrets, { migrateModules: async () => {}, queryMs: LIMIT_MS })
  t.teardown(() => backend.close())
  await Promise.all([1, 2].map(() => backend.sql.query('select 1')))
  proxy.harm = 'silent'
  await Promise.all([
    t.rejects(backend.sql.query('select 1'), UNAVAILABLE),
    t.rejects(
      backend.sql.transaction(tx => tx.query('select 1')),
      UNAVAILABLE,
    ),
  ])
})

t.test('the limit of a statement does not apply to migrations', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  const backend = postgresBackend(env['DATABASE_URL'] as string, secrets, {
    migrateModules: async () => {},
    queryMs: 1,
  })
  await backend.migrate()
  t.teardown(() => backend.close())
  await t.rejects(backend.sql.query('select pg_sleep(0.1)'), UNAVAILABLE)
})
