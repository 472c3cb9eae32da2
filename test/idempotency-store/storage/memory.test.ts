import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import { GRACE_MS } from '@gatewright/kernel'
import t from 'tap'
import { takesPositiveCapacity } from '../../harness/databases/store-cases.ts'
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

takesPositiveCapacity(capacity => memoryIdempotency({ capacity }))

t.test('has room for 10 000 records by default, and for as few as one', async t => {
  for (const [storage, capacity] of [
    [memoryIdempotency(), 10_000],
    [memoryIdempotency({ capacity: 1 }), 1],
  ] as const) {
    for (let key = 0; key < capacity; key++) await storage.begin(`${key}`, 'f', 10, 0)
    await t.rejects(storage.begin('next', 'f', 10, 0), { code: 'ERR_STORE_FULL' })
  }
})

t.test('counts a deleted record once, and has its place for another', async t => {
  const storage = memoryIdempotency({ capacity: 2 })
  for (const key of ['a', 'b']) {
    await storage.begin(key, 'f', 10, 0)
    await storage.end(key, 0, { state: 'free', expiresAt: 10 }, 0)
  }
  t.equal(await storage.collect(1, 10 + GRACE_MS), 1)
  t.equal(await storage.collect(9, 10 + GRACE_MS), 1)
  t.equal(await storage.collect(9, 10 + GRACE_MS), 0)
  for (const key of ['c', 'd']) t.match(await storage.begin(key, 'f', 10, 0), { state: 'started' })
  await t.rejects(storage.begin('e', 'f', 10, 0), { code: 'ERR_STORE_FULL' })
})

t.test('reports a run without an outcome as lost at any time, also at 0', async t => {
  const storage = memoryIdempotency()
  await storage.begin('a', 'f', 10, 0)
  await storage.end('a', 0, { state: 'lost' }, 0)
  t.same(await storage.begin('a', 'f', 10, 0), { state: 'lost', fence: 0 })
})

t.test('warns in production that it forgets its records at the end of the process', async t => {
  t.intercept(process, 'env', { value: { ...process.env, NODE_ENV: 'production' } })
  const warned = new Promise<Error>(resolve => process.once('warning', resolve))
  memoryIdempotency()
  t.match(await warned, { code: 'GATEWRIGHT_MEMORY_STORAGE', message: /^IdempotencyStorage / })
})
