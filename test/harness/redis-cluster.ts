import { createClient } from 'redis'
import { freePort, startRedis } from './services.ts'

/** A cluster of three nodes on loopback, each with a third of the slots. */
export interface RedisCluster {
  readonly urls: readonly string[]
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
  for (const client of clients) await formed(client)
  for (const client of clients) client.destroy()
  return {
    urls: nodes.map(({ url }) => url),
    stop: async () => {
      await Promise.all(nodes.map(node => node.stop()))
    },
  }
}

async function formed(client: { sendCommand(args: string[]): Promise<unknown> }): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const info = String(await client.sendCommand(['CLUSTER', 'INFO']))
    if (info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error('the cluster did not form in 20 s')
}
