import { redisStorage } from '@gatewright/idempotency-store/redis'
import { idempotencyStorageContract, idempotencyStorageFaults } from '@gatewright/idempotency-store/testing'
import t from 'tap'
import { hurtRedis } from '../../harness/hurt.ts'
import { runner } from '../../harness/runner.ts'
import { openRedis, uniqueName } from '../../harness/stores.ts'

idempotencyStorageContract(runner, 'Redis', async () => {
  const { connections, close } = await openRedis(4)
  return { connections: connections.map(client => redisStorage(client)), close }
})

idempotencyStorageFaults(runner, 'Redis', async () => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await hurtRedis()
  return {
    healthy: redisStorage(healthy),
    cutBefore: redisStorage(cutBefore),
    cutAfter: redisStorage(cutAfter),
    malformed: redisStorage(malformed),
    close,
  }
})

t.test('takes one round trip a verb, and one more after the server lost its scripts', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const commands: string[] = []
  const client = {
    run: (key: string, command: readonly string[]) => {
      commands.push(command[0] as string)
      return connections[0]!.run(key, command)
    },
  }
  const storage = redisStorage(client)
  const write = async (key: string): Promise<void> => {
    commands.length = 0
    await storage.begin(key, 'f', 2000, 1000)
    await storage.end(key, 1000, { state: 'done', answer: '{}', expiresAt: 9000 }, 1000)
  }
  await write(uniqueName())
  await write(uniqueName())
  t.same(commands, ['EVALSHA', 'EVALSHA'])
  await connections[0]!.run('', ['SCRIPT', 'FLUSH'])
  await write(uniqueName())
  t.same(commands, ['EVALSHA', 'EVAL', 'EVALSHA', 'EVAL'])
})

t.test('gives a time to live to what has ended, and none to what is running or lost', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const client = connections[0]!
  const prefix = uniqueName()
  const storage = redisStorage(client, { prefix })
  const ttl = async (): Promise<number> => {
    const [name] = (await client.run('', ['KEYS', `${prefix}*`])) as string[]
    return (await client.run(name as string, ['PTTL', name as string])) as number
  }
  await storage.begin('key', 'f', 2000, 1000)
  t.equal(await ttl(), -1)
  await storage.end('key', 1000, { state: 'lost' }, 1000)
  t.equal(await ttl(), -1)
  await storage.end('key', 1000, { state: 'free', expiresAt: 61_000 }, 1000)
  const freed = await ttl()
  t.ok(freed > 600_000 && freed <= 660_000, `10 min beyond the minute, not ${freed}`)
  await storage.begin('key', 'f', 2000, 1000)
  t.equal(await ttl(), -1)
})
