// The cluster recipes against a real cluster of three nodes, each with a third of the slots.
import { fromIoredis, fromNodeRedisCluster, type RedisClient } from '@gatewright/kernel/redis'
import { redisScript, runScript } from '@gatewright/kernel/internal/redis'
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import t from 'tap'
import { startRedisCluster } from '../../harness/databases/redis-cluster.ts'
import { uniqueName } from '../../harness/stores.ts'

const cluster = await startRedisCluster()
t.teardown(() => cluster.stop())
const [firstNode = ''] = cluster.urls

const recipes: Record<string, () => Promise<{ client: RedisClient; close(): unknown }>> = {
  'node-redis': async () => {
    const cluster = createCluster({ rootNodes: [{ url: firstNode }] })
    cluster.on('error', () => {})
    await cluster.connect()
    return { client: fromNodeRedisCluster(cluster), close: () => cluster.destroy() }
  },
  ioredis: async () => {
    const { hostname, port } = new URL(firstNode)
    const cluster = new Cluster([{ host: hostname, port: Number(port) }], {
      lazyConnect: true,
      retryDelayOnFailover: 0,
    })
    cluster.on('error', () => {})
    await cluster.connect()
    return { client: fromIoredis(cluster), close: () => cluster.disconnect() }
  },
}

for (const [name, open] of Object.entries(recipes)) {
  t.test(`${name}: sends each command to the node that has the slot of its key`, async t => {
    const { client, close } = await open()
    t.teardown(close)
    const keys = Array.from({ length: 60 }, uniqueName)
    await Promise.all(keys.map(key => client.run(key, ['SET', key, key])))
    t.same(await Promise.all(keys.map(key => client.run(key, ['GET', key]))), keys)
  })

  t.test(`${name}: sends a script to each node that does not know it, and runs it once per call`, async t => {
    const { client, close } = await open()
    t.teardown(close)
    const script = redisScript(`-- ${uniqueName()}\nreturn redis.call('incr', KEYS[1])`)
    const keys = Array.from({ length: 60 }, uniqueName)
    const run = (): Promise<unknown[]> => Promise.all(keys.map(key => runScript(client, script, key, [])))
    t.same(
      await run(),
      keys.map(() => 1),
    )
    t.same(
      await run(),
      keys.map(() => 2),
    )
  })
}
