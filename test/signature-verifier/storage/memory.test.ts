import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { challengeStorageContract, nonceStorageContract } from '@gatewright/signature-verifier/testing'
import t from 'tap'
import { runner } from '../../harness/runner.ts'

const open = async () => ({
  connections: [memoryNonces()],
  close: async () => {},
})
nonceStorageContract(runner, 'memory', open)
challengeStorageContract(runner, 'memory', open)

t.test('throws a fault when full of live nonces, and forgets none of them', async t => {
  const storage = memoryNonces({ capacity: 3 })
  for (const key of ['a', 'b', 'c']) t.equal(await storage.claim(key, 1000, 0), true)
  await t.rejects(storage.claim('d', 1000, 999), { name: 'Fault', code: 'ERR_STORE_FULL' })
  for (const key of ['a', 'b', 'c']) t.equal(await storage.claim(key, 2000, 999), false)
})

t.test('deletes expired nonces when it is full', async t => {
  const storage = memoryNonces({ capacity: 2 })
  await storage.claim('short', 10, 0)
  await storage.claim('long', 1000, 0)
  t.equal(await storage.claim('next', 1000, 10), true)
  t.equal(await storage.claim('long', 1000, 10), false)
})

t.test('rejects a capacity that is not a positive integer', async t => {
  for (const capacity of [0, -1, 1.5, NaN]) t.throws(() => memoryNonces({ capacity }), /capacity/)
})

t.test('throws for a challenge when full of live challenges, and still accepts nonces', async t => {
  const storage = memoryNonces({ capacity: 2 })
  for (const key of ['a', 'b']) t.equal(await storage.issue(key, 1000, 0), true)
  await t.rejects(storage.issue('c', 1000, 999), { name: 'Fault', code: 'ERR_STORE_FULL' })
  t.equal(await storage.claim('n', 1000, 0), true)
  for (const key of ['a', 'b']) t.equal(await storage.consume(key, 999), true)
  t.equal(await storage.issue('c', 1000, 999), true)
})
