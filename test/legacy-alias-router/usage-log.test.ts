import { createUsageLog, type AliasUsageStorage } from '@gatewright/legacy-alias-router'
import type { AliasUsageBatch } from '#packages/legacy-alias-router/dist/storage/port.js'
import { memoryAliasUsage } from '@gatewright/legacy-alias-router/memory'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'

const used = ['prefix:/a']

/** A memory storage that records its batches, and whose calls fail or lose their reply as the test says. */
function counted(fails: ('before' | 'after')[] = []): {
  storage: AliasUsageStorage
  batches: AliasUsageBatch[]
} {
  const inner = memoryAliasUsage()
  const batches: AliasUsageBatch[] = []
  const add: AliasUsageStorage['add'] = async (batch, now) => {
    batches.push(batch)
    const harm = fails.shift()
    if (harm === 'before') throw new Error('down')
    const added = await inner.add(batch, now)
    if (harm === 'after') throw new Error('the reply got lost')
    return added
  }
  return { storage: { ...inner, add }, batches }
}

t.test('collects uses and writes them in one batch', async t => {
  const { storage, batches } = counted()
  const clock = manualClock(1000)
  const log = createUsageLog({ storage, clock })
  log.record('key_1', used)
  clock.advance(5)
  log.record('key_1', [...used, ...used, 'prefix:/c'])
  log.record(undefined, used)
  log.record('key_1', [])
  t.equal(batches.length, 0, 'nothing is written while requests run')
  await log.flush()
  t.equal(batches.length, 1)
  t.same(await storage.page(undefined, 10), [
    { alias: 'prefix:/a', caller: 'anonymous', count: 1, firstSeen: 1005, lastSeen: 1005 },
    { alias: 'prefix:/a', caller: 'key_1', count: 2, firstSeen: 1000, lastSeen: 1005 },
    { alias: 'prefix:/c', caller: 'key_1', count: 1, firstSeen: 1005, lastSeen: 1005 },
  ])
  await log.flush()
  t.equal(batches.length, 1, 'nothing new is not written')
})

t.test('sends a failed batch again with its number, and counts it once', async t => {
  const { storage, batches } = counted(['before', 'after'])
  const log = createUsageLog({ storage })
  log.record('key', used)
  await t.rejects(log.flush(), /down/)
  log.record('key', used)
  await t.rejects(log.flush(), /lost/)
  log.record('key', used)
  await log.flush()
  t.same(
    batches.map(({ sequence }) => sequence),
    [1, 1, 1, 2],
  )
  t.match(await storage.page(undefined, 10), [{ count: 3 }])
})

t.test('writes what was recorded before a flush, also with simultaneous flushes', async t => {
  const { storage } = counted()
  const log = createUsageLog({ storage })
  const flushes: Promise<void>[] = []
  for (let round = 0; round < 20; round++) {
    log.record('key', used)
    flushes.push(log.flush())
  }
  await Promise.all(flushes)
  t.match(await storage.page(undefined, 10), [{ count: 20 }])
})

t.test('writes automatically after flushMs, reports a failure, and tries again', async t => {
  const { storage, batches } = counted(['before'])
  const failures: unknown[] = []
  await new Promise<void>(resolve => {
    const watched: AliasUsageStorage = {
      ...storage,
      add: async (batch, now) => {
        const added = await storage.add(batch, now)
        resolve()
        return added
      },
    }
    const log = createUsageLog({ storage: watched, flushMs: 100, onFailure: error => failures.push(error) })
    log.record('key', used)
    // The log's own timer does not keep the process alive; this one does.
    setTimeout(resolve, 5_000).unref()
    const keepAlive = setInterval(() => {}, 1000)
    t.teardown(() => clearInterval(keepAlive))
  })
  t.equal(batches.length, 2)
  t.match(failures, [{ message: 'down' }])
})

t.test('writes at once when half of the pairs are reached, so that a healthy store gets all', async t => {
  const { storage } = counted()
  const log = createUsageLog({ storage, flushMs: 600_000, maxPairs: 1000 })
  for (let index = 0; index < 3000; index++) {
    log.record(`key_${index}`, used)
    // Requests come one after the other; a write of the memory storage takes a few turns.
    if (index % 100 === 0) await new Promise(setImmediate)
  }
  t.equal(log.dropped(), 0)
  await log.flush()
  t.equal((await storage.page(undefined, 5000)).length, 3000)
})

t.test('splits uses into batches, and drops further pairs while the store is down', async t => {
  const { storage, batches } = counted(['before'])
  const failures: unknown[] = []
  const log = createUsageLog({ storage, maxPairs: 1000, onFailure: error => failures.push(error) })
  for (let index = 0; index < 1200; index++) log.record(`key_${index}`, used)
  log.record('key_1', used)
  t.equal(log.dropped(), 200)
  await log.flush()
  t.equal(failures.length, 1, 'the write of half of the pairs failed, and was not tried for every use')
  t.same(
    batches.map(({ rows }) => rows.length),
    [500, 500, 500],
  )
  const rows = await storage.page(undefined, 1000)
  t.equal(
    rows.reduce((sum, { count }) => sum + count, 0),
    1001,
  )
})

t.test('records a caller that is not printable by its digest', async t => {
  const { storage } = counted()
  const log = createUsageLog({ storage })
  for (const caller of ['', 'a\nb', 'é', 'x'.repeat(257), '\ud800']) log.record(caller, used)
  await log.flush()
  const callers = (await storage.page(undefined, 10)).map(({ caller }) => caller)
  t.equal(callers.length, 5)
  for (const caller of callers) t.match(caller, /^digest:[\w-]{43}$/)
})

t.test('rejects options outside their bounds', async t => {
  const storage = memoryAliasUsage()
  for (const flushMs of [0, 99, 600_001, 1.5, NaN])
    t.throws(() => createUsageLog({ storage, flushMs }), /flushMs/)
  for (const maxPairs of [999, 1_000_001]) t.throws(() => createUsageLog({ storage, maxPairs }), /maxPairs/)
})
