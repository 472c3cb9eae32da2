import { memorySpends } from '@gatewright/scope-guard/memory'
import { spendStorageContract } from '@gatewright/scope-guard/testing'
import t from 'tap'
import { runner } from '../../harness/runner.ts'

spendStorageContract(runner, 'memory', async () => ({
  connections: [memorySpends()],
  close: async () => {},
}))

const item = { counter: 'c', unit: 'cents', cap: 10, amount: 1, expiresAt: 1000 } as const

t.test('throws a fault when it is full, and deletes no counter and no hold', async t => {
  const storage = memorySpends({ capacity: 4 })
  await storage.reserve('a', 'h', [item], 0)
  await storage.reserve('b', 'h', [item], 0)
  await t.rejects(storage.reserve('c', 'h', [item], 0), { name: 'Fault', code: 'ERR_STORE_FULL' })
  t.same(await storage.usage('a', ['c']), [{ used: 1, held: 1 }])
  t.equal(await storage.release('b', 'h'), true)
})

t.test('deletes expired counters when it is full', async t => {
  const storage = memorySpends({ capacity: 2 })
  await storage.reserve('a', null, [item], 0)
  t.match(await storage.reserve('b', null, [item], 1000 + 600_000), { outcome: 'held' })
})

t.test('rejects a capacity that is not a positive integer', async t => {
  for (const capacity of [0, -1, 1.5, NaN]) t.throws(() => memorySpends({ capacity }), /capacity/)
})
