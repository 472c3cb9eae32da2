import { createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { gatewright } from '../../harness/gatewright.ts'
import { spawnHost, startTestHost } from '../../harness/host.ts'
import { startProxiedRedisCluster } from '../../harness/databases/redis-cluster.ts'
import { freePort } from '../../harness/services.ts'
import { temporaryFolder } from '../../harness/files.ts'

/** The port of a server that takes connections and never responds. */
async function silentPort(t: Test): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => sockets.add(socket.on('error', () => {})))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

t.test('a host does not start without its Redis, and says why within seconds', async t => {
  const refused = `redis://127.0.0.1:${await freePort()}`
  const silent = `redis://127.0.0.1:${await silentPort(t)}`
  const startOn = (env: Record<string, string>) => startTestHost({ REDIS_URL: '', DATABASE_URL: '', ...env })
  const fault = (reason: RegExp) => ({
    code: 'ERR_STORE_UNAVAILABLE',
    message: 'redis cannot be reached',
    cause: { message: reason },
  })
  // Loads the code of a host: on a slow machine a connection would time out meanwhile.
  await (await startOn({})).close()
  // One after the other: a host that starts meanwhile would block the connections of the others as well.
  await t.rejects(startOn({ REDIS_URL: refused }), fault(/ECONNREFUSED/))
  await t.rejects(startOn({ REDIS_URL: silent }), fault(/within 5 s/))
  await t.rejects(startOn({ REDIS_CLUSTER_URLS: refused }), fault(/root nodes|ECONNREFUSED/i))
  await t.rejects(startOn({ REDIS_CLUSTER_URLS: silent }), fault(/root nodes|timeout/i))
  await t.rejects(
    spawnHost(temporaryFolder(t), { REDIS_URL: refused }),
    /exit 1: Gatewright cannot start:\n {2}redis cannot be reached: .*ECONNREFUSED/,
  )
})

t.test('a host starts on a cluster of which the first node that it asks is silent', async t => {
  const silent = `redis://127.0.0.1:${await silentPort(t)}`
  const { proxy, stop } = await startProxiedRedisCluster()
  t.teardown(stop)
  const { random } = Math
  // The client asks the nodes in turn, from a random one.
  Math.random = () => 0
  t.teardown(() => {
    Math.random = random
  })
  const REDIS_CLUSTER_URLS = `${silent},${proxy.url}`
  const host = await startTestHost({ REDIS_URL: '', DATABASE_URL: '', REDIS_CLUSTER_URLS })
  await host.close()
})

t.test('operator commands need no Redis', async t => {
  const REDIS_URL = `redis://127.0.0.1:${await freePort()}`
  t.match(await gatewright(['jobs', 'list'], { DATA_DIR: temporaryFolder(t), REDIS_URL }), {
    code: 0,
    output: /No jobs/,
  })
})
