import { faultProxy, type FaultProxy } from '@gatewright/kernel/testing'
import { createClient } from 'redis'
import { freePort, startRedis } from '../services.ts'

/** A cluster of three nodes on loopback, each with a third of the slots. */
export interface RedisCluster {
  readonly urls: readonly string[]
  /** Adds a replica of the first node, and returns its URL. */
  addReplica(): Promise<string>
  stop(): Promise<void>
}

const BOUNDS = [0, 5461, 10923, 16384]

/** Starts three nodes, gives each its slots, makes them meet, and waits until each serves all. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const buses = await Promise.all([freePort(), freePort(), freePort()])
  const nodes = await Promise.all(
    buses.map(bus => startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(bus)])),
  )
  const clients = nodes.map(({ url }) => createClient({ url }))
  await Promise.all(clients.map(client => client.connect()))
  for (const [index, client] of clients.entries()) {
    const [from = 0, below = 0] = BOUNDS.slice(index)
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', String(from), String(below - 1)])
    await client.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)])
    const { port } = new URL(nodes[index]?.url ?? '')
    if (index > 0) await clients[0]?.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', port, String(buses[index])])
  }
  for (const client of clients) await formed(client, 3)
  const first = (await clients[0]?.sendCommand(['CLUSTER', 'MYID'])) as string
  for (const client of clients) client.destroy()
  return {
    urls: nodes.map(({ url }) => url),
    async addReplica() {
      const bus = await freePort()
      const node = await startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(bus)])
      nodes.push(node)
      const client = createClient({ url: node.url })
      await client.connect()
      const { port } = new URL(nodes[0]?.url ?? '')
      await client.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', port, String(buses[0])])
      await formed(client, 4)
      await client.sendCommand(['CLUSTER', 'REPLICATE', first])
      for (
        let tries = 0;
        !JSON.stringify(await client.sendCommand(['ROLE'])).includes('connected');
        tries += 1
      ) {
        if (tries === 200) throw new Error('the replica did not connect in 20 s')
        await new Promise(resolve => setTimeout(resolve, 100))
      }
      client.destroy()
      return node.url
    },
    stop: async () => {
      await Promise.all(nodes.map(node => node.stop()))
    },
  }
}

/** A cluster of one node that gives clients the port of a proxy in front of it. */
export async function startProxiedRedisCluster(): Promise<{ proxy: FaultProxy; stop(): Promise<void> }> {
  const node = await startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())])
  const proxy = await faultProxy(node.url)
  const client = createClient({ url: node.url })
  await client.connect()
  await client.sendCommand(['CONFIG', 'SET', 'cluster-announce-ip', '127.0.0.1'])
  await client.sendCommand(['CONFIG', 'SET', 'cluster-announce-port', new URL(proxy.url).port])
  await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
  await formed(client, 1)
  client.destroy()
  return {
    proxy,
    stop: async () => {
      await proxy.close()
      await node.stop()
    },
  }
}

async function formed(
  client: { sendCommand(args: string[]): Promise<unknown> },
  nodes: number,
): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const info = String(await client.sendCommand(['CLUSTER', 'INFO']))
    if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes}`)) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error('the cluster did not form in 20 s')
}
