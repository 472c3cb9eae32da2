// A Redis works if a write to it would succeed now, and if it forgets no count: each server that takes writes is asked.
import { createClient } from 'redis'
import t, { type Test } from 'tap'
import type { Backend } from '../../../packages/host/dist/storage/backend.js'
import { startRedisCluster } from '../../harness/databases/redis-cluster.ts'
import { startRedis } from '../../harness/services.ts'
import { withRedis } from '#packages/host/dist/storage/redis.js'

const database = { checks: {}, close: async () => {} } as unknown as Backend

/** Sends commands to a server as its operator. */
async function operator(t: Test, url: string): Promise<(...command: string[]) => Promise<unknown>> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.destroy())
  return (...command) => client.sendCommand(command)
}
async function opened(t: Test, target: Parameters<typeof withRedis>[1]): Promise<() => Promise<unknown>> {
  const backend = await withRedis(database, target)
  t.teardown(() => backend.close())
  return async () => backend.checks['redis']?.()
}
/** Runs a check until it passes, for at most 20 s. */
async function passes(check: () => Promise<unknown>): Promise<boolean> {
  for (const until = performance.now() + 20_000; performance.now() < until; ) {
    if (
      await check().then(
        () => true,
        () => false,
      )
    )
      return true
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return false
}

const REPLICA = { message: /Redis is a replica, and takes no writes: let REDIS_URL lead to the master/ }

t.test('a Redis that was demoted is not ready, and is again once it takes writes', async t => {
  const [one, other] = await Promise.all([startRedis([]), startRedis([])])
  t.teardown(() => Promise.all([one.stop(), other.stop()]))
  const check = await opened(t, { url: one.url })
  await t.resolves(check())
  const command = await operator(t, one.url)
  await command('REPLICAOF', '127.0.0.1', new URL(other.url).port)
  await t.rejects(check(), REPLICA)
  await t.rejects(withRedis(database, { url: one.url }), REPLICA, 'a host does not start on it')
  await command('REPLICAOF', 'NO', 'ONE')
  await t.resolves(check())
})

for (const kind of ['a Redis', 'a cluster'] as const)
  t.test(`${kind} whose memory is full is not ready`, async t => {
    const server = kind === 'a Redis' ? await startRedis([]) : await startRedisCluster()
    t.teardown(server.stop)
    const urls = 'urls' in server ? server.urls : [server.url]
    const check = await opened(t, 'urls' in server ? { clusterUrls: urls } : { url: server.url })
    for (const url of urls) {
      const command = await operator(t, url)
      await command('CONFIG', 'SET', 'maxmemory', '1')
      await t.rejects(check(), { message: /OOM command not allowed/ })
      await command('CONFIG', 'SET', 'maxmemory', '0')
      await t.resolves(check())
    }
  })

t.test('a cluster is ready if each of its masters keeps what it is given', async t => {
  const cluster = await startRedisCluster()
  t.teardown(cluster.stop)
  const check = await opened(t, { clusterUrls: cluster.urls })
  await t.resolves(check())
  for (const url of cluster.urls) {
    const command = await operator(t, url)
    await command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await t.rejects(check(), { message: 'Redis has maxmemory-policy allkeys-lru: set it to noeviction' }, url)
    await t.rejects(withRedis(database, { clusterUrls: cluster.urls }), {
      message: /maxmemory-policy allkeys-lru/,
    })
    await command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await t.resolves(check())
  }
})

t.test('a cluster whose master was replaced is ready again without a request', async t => {
  const cluster = await startRedisCluster()
  t.teardown(cluster.stop)
  const replica = await operator(t, await cluster.addReplica())
  const check = await opened(t, { clusterUrls: cluster.urls })
  await t.resolves(check(), 'a replica may be there')
  await replica('CLUSTER', 'FAILOVER')
  const demoted = await operator(t, cluster.urls[0] as string)
  t.ok(
    await passes(
      async () => String(await demoted('ROLE')).startsWith('slave') || Promise.reject(new Error('master')),
    ),
  )
  t.ok(await passes(check))
})

t.test('a cluster that lost a master is not ready', async t => {
  const cluster = await startRedisCluster()
  t.teardown(cluster.stop)
  const check = await opened(t, { clusterUrls: cluster.urls })
  const victim = await operator(t, cluster.urls[1] as string)
  await victim('SHUTDOWN', 'NOSAVE').catch(() => {})
  await t.rejects(check())
})

t.test('a host does not start on one node of a cluster, or as a user who may run no scripts', async t => {
  const cluster = await startRedisCluster()
  t.teardown(cluster.stop)
  for (const url of cluster.urls)
    await t.rejects(withRedis(database, { url }), { message: /set REDIS_CLUSTER_URLS instead of REDIS_URL/ })
  const server = await startRedis([])
  t.teardown(server.stop)
  const command = await operator(t, server.url)
  await command('ACL', 'SETUSER', 'app', 'on', '>pw', '~*', '&*', '+@all', '-@scripting')
  const url = server.url.replace('redis://', 'redis://app:pw@')
  await t.rejects(withRedis(database, { url }), { message: /NOPERM.*eval/ })
})
