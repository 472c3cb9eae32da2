import { failingTests } from '@gatewright/kernel/testing'
import type { AliasUsage, AliasUsageStorage } from '@gatewright/legacy-alias-router'
import { memoryAliasUsage } from '@gatewright/legacy-alias-router/memory'
import { aliasUsageStorageContract, aliasUsageStorageFaults } from '@gatewright/legacy-alias-router/testing'
import t from 'tap'

const yieldOnce = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
const failures = (broken: AliasUsageStorage): Promise<string[]> =>
  failingTests(runner =>
    aliasUsageStorageContract(runner, 'broken', async () => ({
      connections: [broken],
      close: async () => {},
    })),
  )

/** A correct storage with `add` replaced by one that first changes what it was given. */
function altering(change: (row: AliasUsage) => AliasUsage): AliasUsageStorage {
  const correct = memoryAliasUsage()
  return { ...correct, add: (batch, now) => correct.add({ ...batch, rows: batch.rows.map(change) }, now) }
}

/** A storage of plain rows whose `add` yields between its steps, as a network would. */
function rowByRow(recognise: boolean): AliasUsageStorage {
  const stored = new Map<string, AliasUsage>()
  const last = new Map<string, number>()
  const keyOf = ({ alias, caller }: Pick<AliasUsage, 'alias' | 'caller'>) => `${alias}\n${caller}`
  return {
    async add({ writer, sequence, rows }) {
      if (recognise && sequence <= (last.get(writer) ?? 0)) return false
      last.set(writer, sequence)
      for (const row of rows) {
        const before = stored.get(keyOf(row))
        if (recognise) await yieldOnce()
        stored.set(keyOf(row), {
          ...row,
          count: (before?.count ?? 0) + row.count,
          firstSeen: Math.min(before?.firstSeen ?? row.firstSeen, row.firstSeen),
          lastSeen: Math.max(before?.lastSeen ?? row.lastSeen, row.lastSeen),
        })
      }
      return true
    },
    async page(after, limit) {
      const start = after ? keyOf(after) : ''
      const keys = [...stored.keys()].filter(key => key > start).sort()
      return keys.slice(0, limit).map(key => stored.get(key) as AliasUsage)
    },
    async collect(limit, before) {
      const old = [...stored].filter(([, row]) => row.lastSeen < before).slice(0, limit)
      for (const [key] of old) stored.delete(key)
      return old.length
    },
  }
}

t.test('a correct adapter passes, so that a failure below is meaningful', async t => {
  t.same(await failures(memoryAliasUsage()), [])
})

t.test('catches an adapter that reads and then writes', async t => {
  t.same(await failures(rowByRow(true)), [
    'loses no count of 50 simultaneous writers that add rows in opposite orders',
  ])
})

t.test('catches an adapter that does not recognise a repeated batch', async t => {
  t.same(await failures(rowByRow(false)), [
    'counts a repeated batch once, and returns false',
    'adds a batch once in 50 simultaneous calls',
    'distinguishes batches of two writers with the same number',
  ])
})

t.test('catches an adapter that checks a batch and marks it later', async t => {
  const correct = memoryAliasUsage()
  const added = new Set<string>()
  let parts = 0
  const broken: AliasUsageStorage = {
    ...correct,
    async add({ writer, sequence, rows }, now) {
      const id = `${writer}:${sequence}`
      if (added.has(id)) return false
      await yieldOnce()
      added.add(id)
      return correct.add({ writer: `part${++parts}`, sequence: 1, rows }, now)
    },
  }
  t.same(await failures(broken), ['adds a batch once in 50 simultaneous calls'])
})

t.test('catches an adapter that ignores the writer', async t => {
  const correct = memoryAliasUsage()
  const broken: AliasUsageStorage = {
    ...correct,
    add: (batch, now) => correct.add({ ...batch, writer: 'everyone' }, now),
  }
  t.ok((await failures(broken)).includes('distinguishes batches of two writers with the same number'))
})

t.test('catches an adapter that changes texts', async t => {
  for (const change of [(text: string) => text.toLowerCase(), (text: string) => text.trim()]) {
    const broken = altering(row => ({ ...row, caller: change(row.caller) }))
    t.same(await failures(broken), ['distinguishes special texts and returns them unchanged'])
  }
})

t.test('catches an adapter that keeps the instants of the last batch', async t => {
  const correct = memoryAliasUsage()
  const latest = new Map<string, AliasUsage>()
  const broken: AliasUsageStorage = {
    ...correct,
    async add(batch, now) {
      const added = await correct.add(batch, now)
      for (const row of added ? batch.rows : []) latest.set(`${row.alias}\n${row.caller}`, row)
      return added
    },
    page: async (after, limit) =>
      (await correct.page(after, limit)).map(row => {
        const { firstSeen, lastSeen } = latest.get(`${row.alias}\n${row.caller}`) ?? row
        return { ...row, firstSeen, lastSeen }
      }),
  }
  const failed = await failures(broken)
  t.ok(failed.includes('adds counts and keeps the first and last instant, in any order of batches'))
})

t.test('catches an adapter that pages out of order, or collects too much', async t => {
  const correct = memoryAliasUsage()
  const backwards = {
    ...correct,
    page: async (...args: Parameters<typeof correct.page>) => [...(await correct.page(...args))].reverse(),
  }
  t.ok((await failures(backwards)).includes('adds a batch of 500 rows and pages through it in order'))
  const another = memoryAliasUsage()
  const greedy = {
    ...another,
    collect: (_limit: number, before: number) => another.collect(Infinity, before + 1),
  }
  t.same(await failures(greedy), [
    'collects at most the given number of rows, and none seen at or after the instant',
  ])
})

t.test('catches an adapter that returns instead of throwing when its store fails', async t => {
  const healthy = memoryAliasUsage()
  const swallowing = { ...healthy, add: async () => true, page: async () => [] }
  const faulty = { healthy, cutBefore: swallowing, cutAfter: swallowing, malformed: swallowing }
  const failed = await failingTests(runner =>
    aliasUsageStorageFaults(runner, 'broken', async () => ({ ...faulty, close: async () => {} })),
  )
  t.equal(failed.length, 5)
})
