import { once } from 'node:events'
import { GRACE_MS } from '@gatewright/kernel'
import { memoryApprovals, memorySpends } from '@gatewright/scope-guard/memory'
import { approvalStorageContract, spendStorageContract } from '@gatewright/scope-guard/testing'
import t from 'tap'
import { takesPositiveCapacity } from '../../harness/databases/store-cases.ts'
import { request } from './approval-request.ts'
import { runner } from '../../harness/runner.ts'

spendStorageContract(runner, 'memory', async () => ({
  connections: [memorySpends()],
  close: async () => {},
}))

approvalStorageContract(runner, 'memory', async () => ({
  connections: [memoryApprovals()],
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

t.test('stores 100,000 counters and holds unless a capacity is set', async t => {
  const storage = memorySpends()
  const many = Array.from({ length: 99_998 }, (_, n) => ({ ...item, counter: `c${n}` }))
  await storage.reserve('a', null, many, 0)
  await storage.reserve('b', null, [item], 0)
  await t.rejects(storage.reserve('b', null, [{ ...item, counter: 'd' }], 0), { code: 'ERR_STORE_FULL' })
})

t.test('warns in production that its counters are lost with the process', async t => {
  const before = process.env['NODE_ENV']
  t.teardown(() => {
    process.env['NODE_ENV'] = before
  })
  process.env['NODE_ENV'] = 'production'
  const warned = once(process, 'warning')
  memorySpends()
  const [warning] = (await warned) as [Error & { code: string }]
  t.match(warning, { code: 'GATEWRIGHT_MEMORY_STORAGE', message: /^SpendStorage keeps its state/ })
})

t.test('deletes at most as many expired counters as asked for, and returns how many', async t => {
  const storage = memorySpends()
  for (const counter of ['c', 'd', 'e']) await storage.reserve('a', null, [{ ...item, counter }], 0)
  const now = item.expiresAt + GRACE_MS
  t.equal(await storage.collect(9, now - 1), 0)
  t.equal(await storage.collect(2, now), 2)
  t.equal(await storage.collect(2, now), 1)
})

takesPositiveCapacity(capacity => memorySpends({ capacity }))

t.test('keeps as many approvals as its capacity, and deletes those that ended long ago', async t => {
  const storage = memoryApprovals({ capacity: 1 })
  const ask = (id: string, requestedAt: number) =>
    storage.open({ id, request, requestedAt, expiresAt: requestedAt + 1 }, 9)
  t.match(await ask('one', 0), { outcome: 'opened' })
  await t.rejects(ask('two', GRACE_MS), { name: 'Fault', code: 'ERR_STORE_FULL' })
  t.match(await ask('one', 1), { outcome: 'opened' }, 'an approval that it has needs no room')
  t.match(await ask('two', GRACE_MS + 2), { outcome: 'opened' })
})
takesPositiveCapacity(capacity => memoryApprovals({ capacity }))
