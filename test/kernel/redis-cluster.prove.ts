// The cluster recipes against a real cluster of three nodes, each with a third of the slots.
import {
  fromIoredis,
  fromNodeRedisCluster,
  redisScript,
  runScript,
  type RedisClient,
} from '@gatewright/kernel/redis'
import { Cluster } from 'ioredis'
import { createClient, createCluster } from 'redis'
import t from 'tap'
import { freePort, startRedis } from '../harness/services.ts'
import { uniqueName } from '../harness/stores.ts'

const BOUNDS = [0, 5461, 10923, 16384]

const buses = await Promise.all([freePort(), freePort(), freePort()])
const nodes = await Promise.all(
  buses.map(bus => startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(bus)])),
)
t.teardown(() => Promise.all(nodes.map(node => node.stop())))

/** Gives each node its slots, makes them meet, and waits until each serves all. */
async function formCluster(): Promise<void> {
  const clients = nodes.map(({ url }) => createClient({ url }))
  await Promise.all(clients.map(client => client.connect()))
  for (const [index, client] of clients.entries()) {
    const [from = 0, below = 0] = BOUNDS.slice(index)
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', String(from), String(below - 1)])
    await client.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)])
    const { port } = new URL(nodes[index]?.url ?? '')
    if (index > 0) await clients[0]?.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', port, String(buses[index])])
  }
  for (const client of clients) await formed(client)
  for (const client of clients) client.destroy()
}

async function formed(client: { sendCommand(args: string[]): Promise<unknown> }): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const info = String(await client.sendCommand(['CLUSTER', 'INFO']))
    if (info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error('the cluster did not form in 20 s')
}

t.before(formCluster)

const recipes: Record<string, () => Promise<{ client: RedisClient; close(): unknown }>> = {
  'node-redis': async () => {
    const cluster = createCluster({ rootNodes: [{ url: nodes[0]?.url ?? '' }] })
    cluster.on('error', () => {})
    await cluster.connect()
    return { client: fromNodeRedisCluster(cluster), close: () => cluster.destroy() }
  },
  ioredis: async () => {
    const { hostname, port } = new URL(nodes[0]?.url ?? '')
    const cluster = new Cluster([{ host: hostname, port: Number(port) }], { lazyConnect: true })
    cluster.on('error', () => {})
    await cluster.connect()
    return { client: fromIoredis(cluster), close: () => cluster.disconnect() }
  },
}

for (const [name, open] of Object.entries(recipes)) {
  t.test(`${name}: sends every key's commands to the node that has its slot`, async t => {
    const { client, close } = await open()
    t.teardown(close)
    const keys = Array.from({ length: 60 }, uniqueName)
    await Promise.all(keys.map(key => client.run(key, ['SET', key, key])))
    t.same(await Promise.all(keys.map(key => client.run(key, ['GET', key]))), keys)
  })

  t.test(
    `${name}: teaches a script to each node that does not know it, and runs it once per call`,
    async t => {
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
    },
  )
}
