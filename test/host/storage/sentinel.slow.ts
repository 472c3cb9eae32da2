import { setImmediate } from 'node:timers/promises'
import { fromIoredis } from '@gatewright/kernel/redis'
import { redisNonces } from '@gatewright/signature-verifier/redis'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import type { Backend } from '../../../packages/host/dist/storage/backend.js'
import { openTestHost } from '../../harness/host.ts'
import { startWatchedRedis, type WatchedRedis } from '../../harness/databases/redis-sentinel.ts'

// Not exported by the package.
const { withRedis } = (await import(
  `${process.cwd()}/packages/host/dist/storage/redis.js`
)) as typeof import('../../../packages/host/dist/storage/redis.js')

const database = { checks: {}, close: async () => {} } as unknown as Backend
const REPLY_MS = 1000

async function watched(t: Test): Promise<WatchedRedis> {
  const redis = await startWatchedRedis()
  t.teardown(redis.stop)
  return redis
}

const targetOf = ({ addresses }: WatchedRedis, masterName = 'gw') => ({
  sentinels: addresses,
  masterName,
  server: { protocol: 'redis:' as const, user: '', password: '' },
  sentinelPassword: undefined,
})

/** Calls until it resolves, for 30 s at most. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  const until = performance.now() + 30_000
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (performance.now() > until) throw error
      await setImmediate()
    }
  }
}

for (const [how, fail] of [
  ['has ended', (master: WatchedRedis['master']) => void master.stop()],
  ['hangs', (master: WatchedRedis['master']) => master.freeze()],
] as const)
  t.test(`counts on the new master after the old one ${how}`, async t => {
    const redis = await watched(t)
    const backend = await withRedis(database, targetOf(redis), REPLY_MS)
    t.teardown(() => backend.close())
    const limiter = backend.limiter?.({ keyPrefix: 'test', points: 3, duration: 600 })
    t.equal((await limiter?.consume('bucket'))?.consumedPoints, 1)

    await redis.replicated()
    fail(redis.master)
    const failed = performance.now()
    await t.rejects(limiter?.consume('bucket') as Promise<unknown>)
    t.ok(performance.now() - failed < 3 * REPLY_MS, 'it fails soon, and the host counts by itself')
    const counted = await eventually(() => limiter?.consume('bucket') as Promise<{ consumedPoints: number }>)
    t.equal(counted.consumedPoints, 2, 'the replica had the count')
    t.comment(`measured: counts again after ${Math.round(performance.now() - failed)} ms`)
    await eventually(() => backend.checks['redis']?.() as Promise<void>)
  })

t.test('refuses to start on a name that the Sentinels do not know', async t => {
  const redis = await watched(t)
  await t.rejects(withRedis(database, targetOf(redis, 'other'), REPLY_MS), {
    code: 'ERR_STORE_UNAVAILABLE',
    cause: { message: 'most Sentinels name no master "other"' },
  })
})

t.test('a host with Sentinels in REDIS_URL is ready, and stays so through a failover', async t => {
  const redis = await watched(t)
  const host = await openTestHost(t, { REDIS_URL: `redis+sentinel://${redis.addresses.join(',')}/gw` })
  t.match((await host.send('/readyz')).body, { status: 'ready', dependencies: { redis: 'ok' } })
  await redis.master.stop()
  await eventually(async () => {
    const { status, body } = await host.send('/readyz')
    t.equal(status, 200)
    if ((body['dependencies'] as Record<string, string>)['redis'] !== 'ok') throw new Error('not yet')
  })
})

t.test('the packages take a client of ioredis for Sentinels', async t => {
  const redis = await watched(t)
  const client = new Redis({
    sentinels: redis.addresses.map(address => {
      const [host = '', port] = address.split(':')
      return { host, port: Number(port) }
    }),
    name: 'gw',
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    lazyConnect: true,
  })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  await client.connect()
  const nonces = redisNonces(fromIoredis(client))
  const now = Date.now()
  const claim = (nonce: string): Promise<boolean> => nonces.claim(nonce, now + 600_000, now)
  t.equal(await claim('first'), true)
  await redis.replicated()
  await redis.master.stop()
  t.equal(await eventually(() => claim('second')), true)
  t.equal(await claim('first'), false, 'the replica had it')
})
