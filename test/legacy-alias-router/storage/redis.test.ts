import { redisAliasUsage } from '@gatewright/legacy-alias-router/redis'
import { aliasUsageStorageContract, aliasUsageStorageFaults } from '@gatewright/legacy-alias-router/testing'
import t from 'tap'
import { faultyRedis, faultyStores } from '../../harness/databases/faulty.ts'
import { runner } from '../../harness/runner.ts'
import { openRedis, uniqueName } from '../../harness/stores.ts'

const prefix = `{${uniqueName()}}:`

aliasUsageStorageContract(runner, 'Redis', async () => {
  const { connections, close } = await openRedis(4)
  return { connections: connections.map(client => redisAliasUsage(client, { prefix })), close }
})

aliasUsageStorageFaults(runner, 'Redis', () =>
  faultyStores(faultyRedis(), client => redisAliasUsage(client, { prefix })),
)

t.test('adds a batch in one round trip', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const commands: string[] = []
  const client = {
    run: (key: string, command: readonly string[]) => {
      commands.push(command[0] as string)
      return connections[0]!.run(key, command)
    },
  }
  const storage = redisAliasUsage(client, { prefix })
  const rows = [{ alias: 'x', caller: 'key', count: 1, firstSeen: 1, lastSeen: 1 }]
  await storage.add({ writer: uniqueName(), sequence: 1, rows }, 1)
  commands.length = 0
  await storage.add({ writer: uniqueName(), sequence: 1, rows }, 1)
  t.same(commands, ['EVALSHA'])
})

t.test('keeps all keys in one slot, and expires a writer after a day', async t => {
  const { connections, close } = await openRedis(1)
  t.teardown(close)
  const client = connections[0]!
  const own = `{${uniqueName()}}:`
  const rows = [{ alias: 'x', caller: 'key', count: 1, firstSeen: 1, lastSeen: 1 }]
  await redisAliasUsage(client, { prefix: own }).add({ writer: 'w', sequence: 1, rows }, 1)
  const keys = (await client.run(own, ['KEYS', `${own}*`])) as string[]
  t.same([...keys].sort(), [`${own}usage`, `${own}usage:names`, `${own}usage:seen`, `${own}usage:writer:w`])
  const ttl = Number(await client.run(own, ['PTTL', `${own}usage:writer:w`]))
  t.ok(ttl > 86_000_000 && ttl <= 86_400_000)
  t.throws(() => redisAliasUsage(client, { prefix: 'gw:' }), /hash tag/)
})
