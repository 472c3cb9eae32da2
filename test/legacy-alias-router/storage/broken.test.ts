import { failingTests } from '@gatewright/kernel/testing'
import type { AliasUsage, AliasUsageStorage } from '@gatewright/legacy-alias-router'
import { memoryStorage } from '@gatewright/legacy-alias-router/memory'
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

/** A sound storage with `add` replaced by one that first changes what it was given. */
function altering(change: (row: AliasUsage) => AliasUsage): AliasUsageStorage {
  const sound = memoryStorage()
  return { ...sound, add: (batch, now) => sound.add({ ...batch, rows: batch.rows.map(change) }, now) }
}

/** A storage of plain rows whose `add` yields between its steps, as a network would. */
function rowByRow(recognise: boolean): AliasUsageStorage {
  const held = new Map<string, AliasUsage>()
  const last = new Map<string, number>()
  const keyOf = ({ alias, principal }: Pick<AliasUsage, 'alias' | 'principal'>) => `${alias}\n${principal}`
  return {
    async add({ writer, sequence, rows }) {
      if (recognise && sequence <= (last.get(writer) ?? 0)) return false
      last.set(writer, sequence)
      for (const row of rows) {
        const before = held.get(keyOf(row))
        if (recognise) await yieldOnce()
        held.set(keyOf(row), {
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
      const keys = [...held.keys()].filter(key => key > start).sort()
      return keys.slice(0, limit).map(key => held.get(key) as AliasUsage)
    },
    async collect(before, limit) {
      const old = [...held].filter(([, row]) => row.lastSeen < before).slice(0, limit)
      for (const [key] of old) held.delete(key)
      return old.length
    },
  }
}

t.test('passes a sound adapter, so that a failure below means something', async t => {
  t.same(await failures(memoryStorage()), [])
})

t.test('catches an adapter that reads and then writes', async t => {
  t.same(await failures(rowByRow(true)), ['loses no count of 50 simultaneous writers, in opposite orders'])
})

t.test('catches an adapter that does not recognise a batch', async t => {
  t.same(await failures(rowByRow(false)), [
    'counts a batch that is sent again once, and answers false',
    'adds one of 50 simultaneous sendings of a batch',
    "keeps the batches of a writer apart from another's with the same number",
  ])
})

t.test('catches an adapter that marks a batch after a pause', async t => {
  const sound = memoryStorage()
  const added = new Set<string>()
  let parts = 0
  const broken: AliasUsageStorage = {
    ...sound,
    async add({ writer, sequence, rows }, now) {
      const id = `${writer}:${sequence}`
      if (added.has(id)) return false
      await yieldOnce()
      added.add(id)
      return sound.add({ writer: `part${++parts}`, sequence: 1, rows }, now)
    },
  }
  t.same(await failures(broken), ['adds one of 50 simultaneous sendings of a batch'])
})

t.test('catches an adapter that numbers all writers together', async t => {
  const sound = memoryStorage()
  const broken: AliasUsageStorage = {
    ...sound,
    add: (batch, now) => sound.add({ ...batch, writer: 'everyone' }, now),
  }
  t.ok(
    (await failures(broken)).includes(
      "keeps the batches of a writer apart from another's with the same number",
    ),
  )
})

t.test('catches an adapter that folds texts', async t => {
  for (const fold of [(text: string) => text.toLowerCase(), (text: string) => text.trim()]) {
    const broken = altering(row => ({ ...row, principal: fold(row.principal) }))
    t.same(await failures(broken), ['keeps hostile texts apart and gives them back as they came'])
  }
})

t.test('catches an adapter that takes the last writer for the latest use', async t => {
  const sound = memoryStorage()
  const latest = new Map<string, AliasUsage>()
  const broken: AliasUsageStorage = {
    ...sound,
    async add(batch, now) {
      const added = await sound.add(batch, now)
      for (const row of added ? batch.rows : []) latest.set(`${row.alias}\n${row.principal}`, row)
      return added
    },
    page: async (after, limit) =>
      (await sound.page(after, limit)).map(row => {
        const { firstSeen, lastSeen } = latest.get(`${row.alias}\n${row.principal}`) ?? row
        return { ...row, firstSeen, lastSeen }
      }),
  }
  const failed = await failures(broken)
  t.ok(failed.includes('adds counts up and keeps the first and last instant, whatever the order'))
})

t.test('catches an adapter that pages out of order, or collects too much', async t => {
  const sound = memoryStorage()
  const backwards = {
    ...sound,
    page: async (...args: Parameters<typeof sound.page>) => [...(await sound.page(...args))].reverse(),
  }
  t.ok(
    (await failures(backwards)).includes(
      'adds a batch of 500 rows in one step and pages through it in order',
    ),
  )
  const another = memoryStorage()
  const greedy = { ...another, collect: (before: number) => another.collect(before + 1, Infinity) }
  t.same(await failures(greedy), [
    'collects at most the given number of rows, none seen at or after the instant',
  ])
})

t.test(
  'catches an adapter that answers instead of throwing when its store is cut or talks nonsense',
  async t => {
    const healthy = memoryStorage()
    const swallowing = { ...healthy, add: async () => true, page: async () => [] }
    const hurt = { healthy, cutBefore: swallowing, cutAfter: swallowing, malformed: swallowing }
    const failed = await failingTests(runner =>
      aliasUsageStorageFaults(runner, 'broken', async () => ({ ...hurt, close: async () => {} })),
    )
    t.equal(failed.length, 4)
  },
)
