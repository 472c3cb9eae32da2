import { GRACE_MS } from '@gatewright/kernel'
import { redisNonces } from '@gatewright/signature-verifier/redis'
import {
  challengeStorageContract,
  challengeStorageFaults,
  nonceStorageContract,
  nonceStorageFaults,
} from '@gatewright/signature-verifier/testing'
import t from 'tap'
import { faultyRedis, faultyStores } from '../../harness/databases/faulty.ts'
import { runner } from '../../harness/runner.ts'
import { redisService } from '../../harness/services.ts'
import { openRedis, uniqueName } from '../../harness/stores.ts'

const open = async () => {
  const { connections, close } = await openRedis(4)
  return { connections: connections.map(client => redisNonces(client)), expiresNatively: true, close }
}
nonceStorageContract(runner, 'Redis', open)
challengeStorageContract(runner, 'Redis', open)

const hurt = () => faultyStores(faultyRedis(), client => redisNonces(client))
nonceStorageFaults(runner, 'Redis', hurt)
challengeStorageFaults(runner, 'Redis', hurt)

t.test('claims in one round trip', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const commands: string[] = []
  const client = {
    run: (key: string, command: readonly string[]) => {
      commands.push(command[0] as string)
      return connections[0]!.run(key, command)
    },
  }
  const storage = redisNonces(client)
  await storage.claim(uniqueName(), 2000, 1000)
  commands.length = 0
  t.equal(await storage.claim(uniqueName(), 2000, 1000), true)
  t.same(commands, ['EVALSHA'])
})

t.test('throws a fault when Redis is full, forgets nothing, and continues when there is space', async t => {
  // A server of its own, because this test fills it up.
  const shared = process.env['TEST_REDIS_URL']
  delete process.env['TEST_REDIS_URL']
  const own = await redisService().finally(() => {
    process.env['TEST_REDIS_URL'] = shared
  })
  t.teardown(() => own.stop())
  const { connections, close } = await openRedis(1, own.url)
  t.teardown(close)
  const client = connections[0]!
  await client.run('', ['CONFIG', 'SET', 'maxmemory', '3mb', 'maxmemory-policy', 'noeviction'])
  const storage = redisNonces(client)
  const full = { name: 'Fault', code: 'ERR_STORE_FULL' }
  let kept = 0
  const fill = async (): Promise<void> => {
    for (;;) {
      const next = Array.from({ length: 500 }, (_, index) => storage.claim(`n${kept + index}`, 9000, 1000))
      const results = await Promise.allSettled(next)
      kept += results.findIndex(result => result.status === 'rejected')
      if (results.some(result => result.status === 'rejected')) return
      kept += 501
    }
  }
  await fill()
  t.ok(kept > 100, `it held ${kept}`)
  await t.rejects(storage.claim('one more', 9000, 1000), full)
  await t.rejects(storage.issue('one more', 9000, 1000), full)
  t.equal(await storage.claim('n0', 9000, 8999).catch(() => 'full'), false, 'the first is still known')
  await client.run('', ['CONFIG', 'SET', 'maxmemory', '0'])
  t.equal(await storage.claim('one more', 9000, 1000), true, 'what was rejected was not claimed')
})

t.test('keeps a key for its life and the grace after it, and no longer', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const client = connections[0]!
  const prefix = `${uniqueName()}:`
  const storage = redisNonces(client, { prefix, challengePrefix: `${prefix}c:` })
  await storage.claim('a', 10_000, 4000)
  await storage.issue('a', 10_000, 4000)
  for (const key of (await client.run('', ['KEYS', `${prefix}*`])) as string[]) {
    const left = Number(await client.run(key, ['PTTL', key]))
    t.ok(left <= 6000 + GRACE_MS && left > 6000 + GRACE_MS - 5000, `${left} ms`)
  }
})

t.test('throws a fault for a reply that is neither 0 nor 1', async t => {
  for (const reply of [2, null, '1']) {
    const storage = redisNonces({ run: async () => reply })
    await t.rejects(storage.claim('a', 10, 0), { name: 'Fault', code: 'ERR_STORE_REPLY' })
  }
})

t.test('says that Redis is full for no other error of it, and has nothing to collect', async t => {
  const storage = redisNonces({
    run: async () => {
      throw new Error('LOADING Redis is loading the dataset in memory')
    },
  })
  await t.rejects(storage.claim('a', 10, 0), { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' })
  t.equal(await storage.collect(10, 0), 0)
})
