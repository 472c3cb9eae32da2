import { once } from 'node:events'
import { GRACE_MS } from '@gatewright/kernel'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { challengeStorageContract, nonceStorageContract } from '@gatewright/signature-verifier/testing'
import t from 'tap'
import { takesPositiveCapacity } from '../../harness/databases/store-cases.ts'
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

takesPositiveCapacity(capacity => memoryNonces({ capacity }))

t.test('throws for a challenge when full of live challenges, and still accepts nonces', async t => {
  const storage = memoryNonces({ capacity: 2 })
  for (const key of ['a', 'b']) t.equal(await storage.issue(key, 1000, 0), true)
  await t.rejects(storage.issue('c', 1000, 999), { name: 'Fault', code: 'ERR_STORE_FULL' })
  t.equal(await storage.claim('n', 1000, 0), true)
  for (const key of ['a', 'b']) t.equal(await storage.consume(key, 999), true)
  t.equal(await storage.issue('c', 1000, 999), true)
})

t.test('finds space for a nonce as soon as the first of a full store expires, each time', async t => {
  const storage = memoryNonces({ capacity: 2 })
  const full = { name: 'Fault', code: 'ERR_STORE_FULL' }
  await storage.claim('a', 10, 0)
  await storage.claim('b', 20, 0)
  await t.rejects(storage.claim('c', 40, 9), full)
  t.equal(await storage.claim('c', 40, 10), true)
  await t.rejects(storage.claim('d', 30, 19), full)
  t.equal(await storage.claim('d', 30, 20), true)
  await t.rejects(storage.claim('e', 99, 29), full)
  t.equal(await storage.claim('e', 99, 30), true)
  t.equal(await storage.claim('c', 99, 39), false, 'the live one is still known')
})

t.test('claims an expired nonce again in a full store', async t => {
  const storage = memoryNonces({ capacity: 2 })
  await storage.claim('a', 10, 0)
  await storage.claim('b', 90, 0)
  t.equal(await storage.claim('a', 90, 10), true)
  await t.rejects(storage.claim('c', 90, 11), { code: 'ERR_STORE_FULL' })
})

t.test('stays within its capacity where the challenge that expires first was consumed', async t => {
  const storage = memoryNonces({ capacity: 2 })
  await storage.issue('a', 10, 0)
  await storage.issue('b', 50, 0)
  t.equal(await storage.consume('a', 0), true)
  t.equal(await storage.issue('c', 60, 0), true)
  await t.rejects(storage.issue('d', 60, 20), { code: 'ERR_STORE_FULL' })
})

t.test('collects nonces and challenges, together at most as many as the limit', async t => {
  const storage = memoryNonces()
  for (const key of ['a', 'b']) await storage.claim(key, 10, 0)
  for (const key of ['c', 'd', 'e']) await storage.issue(key, 10, 0)
  const end = 10 + GRACE_MS
  t.equal(await storage.collect(9, end - 1), 0)
  const counts = []
  for (let n = 0; n < 3; n++) counts.push(await storage.collect(3, end))
  t.same(counts, [3, 2, 0])
})

t.test('holds 100,000 nonces by default, and one at least', async t => {
  const storage = memoryNonces()
  for (let n = 0; n < 100_000; n++) await storage.claim(String(n), 10, 0)
  await t.rejects(storage.claim('more', 10, 0), { code: 'ERR_STORE_FULL' })
  t.equal(await memoryNonces({ capacity: 1 }).claim('a', 10, 0), true)
})

t.test('warns in production that it keeps its state in one process', async t => {
  const before = process.env['NODE_ENV']
  t.teardown(() => {
    process.env['NODE_ENV'] = before
  })
  process.env['NODE_ENV'] = 'production'
  const warned = once(process, 'warning')
  memoryNonces()
  const [warning] = (await warned) as [Error & { code: string }]
  t.match(warning, { code: 'GATEWRIGHT_MEMORY_STORAGE', message: /^NonceStorage keeps its state/ })
})
