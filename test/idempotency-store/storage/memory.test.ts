import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import t from 'tap'
import { runner } from '../../harness/runner.ts'

idempotencyStorageContract(runner, 'memory', async () => ({
  connections: [memoryIdempotency()],
  close: async () => {},
}))

t.test('throws a fault when it is full of live records, and deletes none of them', async t => {
  const storage = memoryIdempotency({ capacity: 3 })
  for (const key of ['a', 'b', 'c']) t.match(await storage.begin(key, 'f', 1000, 0), { state: 'started' })
  await t.rejects(storage.begin('d', 'f', 9000, 8000), { name: 'Fault', code: 'ERR_STORE_FULL' })
  for (const key of ['a', 'b', 'c']) t.match(await storage.begin(key, 'f', 9000, 8000), { state: 'lost' })
})

t.test('deletes expired records when it is full', async t => {
  const storage = memoryIdempotency({ capacity: 2 })
  await storage.begin('running', 'f', 10, 0)
  await storage.begin('done', 'f', 10, 0)
  await storage.end('done', 0, { state: 'done', response: '{}', expiresAt: 10 }, 0)
  await t.rejects(storage.begin('next', 'f', 100, 9), { code: 'ERR_STORE_FULL' })
  t.match(await storage.begin('next', 'f', 100, 10), { state: 'started' })
  t.match(await storage.begin('running', 'f', 100, 10), { state: 'lost' })
})

t.test('refuses a capacity that is not a positive integer', async t => {
  for (const capacity of [0, -1, 1.5, NaN]) t.throws(() => memoryIdempotency({ capacity }), /capacity/)
})
