import { redisStorage } from '@gatewright/signature-verifier/redis'
import { nonceStorageContract, nonceStorageFaults } from '@gatewright/signature-verifier/testing'
import t from 'tap'
import { hurtRedis } from '../../harness/hurt.ts'
import { runner } from '../../harness/runner.ts'
import { openRedis, uniqueName } from '../../harness/stores.ts'

nonceStorageContract(runner, 'Redis', async () => {
  const { connections, close } = await openRedis(4)
  return { connections: connections.map(client => redisStorage(client)), close }
})

nonceStorageFaults(runner, 'Redis', async () => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await hurtRedis()
  return {
    healthy: redisStorage(healthy),
    cutBefore: redisStorage(cutBefore),
    cutAfter: redisStorage(cutAfter),
    malformed: redisStorage(malformed),
    close,
  }
})

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
  const storage = redisStorage(client)
  await storage.claim(uniqueName(), 2000, 1000)
  commands.length = 0
  t.equal(await storage.claim(uniqueName(), 2000, 1000), true)
  t.same(commands, ['EVALSHA'])
})
