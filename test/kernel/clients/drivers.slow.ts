// The suites of the ports through the clients of Redis, on a standalone server, a cluster and a master that Sentinel names. `createSentinel` of
// node-redis is left out: it sends a command again whose reply was lost (docs/clusters.md).
import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import { fromIoredis, fromNodeRedisCluster, type RedisClient } from '@gatewright/kernel/redis'
import { redisSpends } from '@gatewright/scope-guard/redis'
import { spendStorageContract } from '@gatewright/scope-guard/testing'
import { Cluster, Redis } from 'ioredis'
import { createCluster } from 'redis'
import t from 'tap'
import { startRedisCluster } from '../../harness/databases/redis-cluster.ts'
import { startWatchedRedis } from '../../harness/databases/redis-sentinel.ts'
import { runner } from '../../harness/runner.ts'

const cluster = await startRedisCluster()
t.teardown(() => cluster.stop())
const watched = await startWatchedRedis()
t.teardown(() => watched.stop())

const addresses = watched.addresses.map(address => {
  const [host = '', port = ''] = address.split(':')
  return { host, port: Number(port) }
})
const [firstNode = ''] = cluster.urls

/** What ioredis needs so that no script runs twice. */
const ONCE = { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 } as const

interface Opened {
  readonly client: RedisClient
  close(): unknown
}

async function openIoredis(redis: Redis): Promise<Opened> {
  redis.on('error', () => {})
  await redis.connect()
  return { client: fromIoredis(redis), close: () => redis.disconnect() }
}

const clients: Readonly<Record<string, () => Promise<Opened>>> = {
  ioredis: () => openIoredis(new Redis(process.env['TEST_REDIS_URL'] as string, ONCE)),
  'ioredis, Sentinel': () => openIoredis(new Redis({ ...ONCE, sentinels: addresses, name: 'gw' })),
  async 'ioredis, Cluster'() {
    const nodes = new Cluster([firstNode], { lazyConnect: true, retryDelayOnFailover: 0 })
    nodes.on('error', () => {})
    await nodes.connect()
    return { client: fromIoredis(nodes), close: () => nodes.disconnect() }
  },
  async 'node-redis, Cluster'() {
    const nodes = createCluster({ rootNodes: [{ url: firstNode }] })
    nodes.on('error', () => {})
    await nodes.connect()
    return { client: fromNodeRedisCluster(nodes), close: () => nodes.destroy() }
  },
}

for (const [name, open] of Object.entries(clients)) {
  const opened = await Promise.all([open(), open()])
  t.teardown(() => Promise.all(opened.map(({ close }) => close())))
  const on = async <Storage>(storage: (client: RedisClient) => Storage) => ({
    connections: opened.map(({ client }) => storage(client)),
    expiresNatively: true,
    close: async () => {},
  })
  idempotencyStorageContract(runner, name, () => on(redisIdempotency))
  spendStorageContract(runner, name, () => on(redisSpends))
}
