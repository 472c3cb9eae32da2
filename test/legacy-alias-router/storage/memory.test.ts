import { memoryAliasUsage } from '@gatewright/legacy-alias-router/memory'
import { aliasUsageStorageContract } from '@gatewright/legacy-alias-router/testing'
import t from 'tap'
import { takesPositiveCapacity } from '../../harness/databases/store-cases.ts'
import { runner } from '../../harness/runner.ts'

aliasUsageStorageContract(runner, 'memory', async () => ({
  connections: [memoryAliasUsage()],
  close: async () => {},
}))

t.test('throws a fault when it is full, and still adds to existing rows', async t => {
  const storage = memoryAliasUsage({ capacity: 2 })
  const row = (alias: string) => ({ alias, caller: 'key', count: 1, firstSeen: 1, lastSeen: 1 })
  const batch = (writer: string, ...aliases: string[]) => ({ writer, sequence: 1, rows: aliases.map(row) })
  t.equal(await storage.add(batch('a', 'x', 'y'), 1), true)
  await t.rejects(storage.add(batch('b', 'x', 'z'), 1), { name: 'Fault', code: 'ERR_STORE_FULL' })
  t.equal(await storage.add(batch('b', 'x', 'y'), 1), true, 'the rejected batch was not recorded')
  t.match(await storage.page(undefined, 10), [{ count: 2 }, { count: 2 }])
})

takesPositiveCapacity(capacity => memoryAliasUsage({ capacity }))
