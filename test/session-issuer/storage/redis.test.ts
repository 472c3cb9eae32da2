import { redisStorage } from '@gatewright/session-issuer/redis'
import {
  keyStorageContract,
  keyStorageFaults,
  sessionStorageContract,
  sessionStorageFaults,
} from '@gatewright/session-issuer/testing'
import t from 'tap'
import { hurtRedis } from '../../harness/hurt.ts'
import { runner } from '../../harness/runner.ts'
import { openRedis, uniqueName } from '../../harness/stores.ts'
import { readRedisFeed } from '../feeds.ts'

async function open() {
  const prefix = `{${uniqueName()}}:`
  const { connections, close } = await openRedis(5)
  const [reader, ...writers] = connections
  const stores = writers.map(client => redisStorage(client, { prefix }))
  return { stores, readFeed: (after: number) => readRedisFeed(reader!, after, prefix), close }
}

keyStorageContract(runner, 'Redis', async () => {
  const { stores, ...rest } = await open()
  return { connections: stores.map(store => store.keys), ...rest }
})

sessionStorageContract(runner, 'Redis', async () => {
  const { stores, ...rest } = await open()
  return { connections: stores.map(store => store.sessions), ...rest }
})

keyStorageFaults(runner, 'Redis', async () => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await hurtRedis()
  const keys = (client: typeof healthy) => redisStorage(client).keys
  return {
    ...{ healthy: keys(healthy), cutBefore: keys(cutBefore), cutAfter: keys(cutAfter) },
    malformed: keys(malformed),
    close,
  }
})

sessionStorageFaults(runner, 'Redis', async () => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await hurtRedis()
  const sessions = (client: typeof healthy) => redisStorage(client).sessions
  return {
    ...{ healthy: sessions(healthy), cutBefore: sessions(cutBefore), cutAfter: sessions(cutAfter) },
    malformed: sessions(malformed),
    close,
  }
})

t.test('refuses a prefix without a hash tag, because rows and feed could end in two slots', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  for (const prefix of ['gw:', '{}:', '', 7 as never]) {
    t.throws(() => redisStorage(connections[0]!, { prefix }), /hash tag/)
  }
})
