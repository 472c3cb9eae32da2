// The rows of an account are in one slot of a cluster, because its scripts read and write several keys; the accounts are in many slots.
import { randomUUID } from 'node:crypto'
import { FEED_LANES, redisFeed } from '@gatewright/kernel'
import { fromNodeRedisCluster } from '@gatewright/kernel/redis'
import { redisCredentials } from '@gatewright/session-issuer/redis'
import { auditEntry, keyRecord, sessionRecord } from '#packages/session-issuer/dist/testing/sample-records.js'
import { auditContract, keyStorageContract, sessionStorageContract } from '@gatewright/session-issuer/testing'
import { createCluster, createClient } from 'redis'
import t from 'tap'
import { startRedisCluster } from '../../harness/databases/redis-cluster.ts'
import { runner } from '../../harness/runner.ts'
import { uniqueName } from '../../harness/stores.ts'
import { readRedisFeed } from '../feeds.ts'

const cluster = await startRedisCluster()
const connect = async () => {
  const client = createCluster({ rootNodes: cluster.urls.map(url => ({ url })) })
  client.on('error', () => {})
  await client.connect()
  return client
}
const clients = await Promise.all([connect(), connect(), connect()])
t.teardown(async () => {
  for (const client of clients) client.destroy()
  await cluster.stop()
})

/** The storages over separate connections, with a prefix of their own. */
function open() {
  const prefix = `${uniqueName()}:`
  const [reader, ...writers] = clients.map(fromNodeRedisCluster)
  return {
    prefix,
    stores: writers.map(client => redisCredentials(client, { prefix })),
    readFeed: (positions: readonly number[]) => readRedisFeed(reader!, positions, prefix),
    close: async () => {},
  }
}

keyStorageContract(runner, 'a Redis Cluster', async () => {
  const { stores, ...rest } = open()
  return { connections: stores.map(store => store.keys), ...rest }
})

sessionStorageContract(runner, 'a Redis Cluster', async () => {
  const { stores, ...rest } = open()
  return { connections: stores.map(store => store.sessions), expiresNatively: true, ...rest }
})

auditContract(runner, 'a Redis Cluster', async () => {
  const { stores, close } = open()
  return { connections: stores, close }
})

t.test('spreads accounts over 32 slots and all nodes, and keeps each account in one slot', async t => {
  const { prefix, stores } = open()
  const { keys, sessions } = stores[0]!
  const accounts = Array.from({ length: 600 }, randomUUID)
  await Promise.all(
    accounts.map(async account => {
      const key = keyRecord(account)
      const feed = [{ kind: 'key', id: key.id, version: 2, at: 1 }] as const
      await keys.commit(account, 0, { keys: [key], policies: [], feed, audit: [auditEntry(account)] })
      await sessions.insert(sessionRecord({ accountId: account }), [])
    }),
  )
  const slots = new Set<number>()
  const counts: string[] = []
  for (const url of cluster.urls) {
    const node = createClient({ url })
    await node.connect()
    const names = (await node.sendCommand(['KEYS', `{${prefix}*`])) as unknown as string[]
    const own = new Set<number>()
    for (const name of names)
      own.add((await node.sendCommand(['CLUSTER', 'KEYSLOT', name])) as unknown as number)
    node.destroy()
    for (const slot of own) slots.add(slot)
    counts.push(`${names.length} keys in ${own.size} slots`)
    t.ok(own.size >= 4, `a node has ${own.size} slots`)
  }
  t.equal(slots.size, FEED_LANES)
  t.equal(new Set(redisFeed(prefix).streams).size, FEED_LANES)
  t.comment(`measured nodes: ${counts.join('; ')}`)
})
