import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import type { AliasUsage, AliasUsageStorage } from './storage/port.ts'

/** A fresh or shared store, seen through several connections. */
export interface AliasUsageStorageUnderTest {
  /** The port over separate connections to one store; one entry for an in-process store. */
  readonly connections: readonly AliasUsageStorage[]
  /** Closes what `open` opened. */
  close(): Promise<void>
}

/** Fixed for the suite: the port takes `now`, so nothing here waits. */
const NOW = 1_767_225_600_000
const DAY = 86_400_000

/** Texts that break careless adapters. All are distinct. */
const HOSTILE = [
  'a',
  'A',
  ' a',
  'a ',
  "'; drop table gw_alias_usage; --",
  '{tag}:*',
  '%_',
  '"},{"',
  '\\n',
  'a:b',
  'a,b',
  '-',
  '+',
  '[x',
  '(x',
  '~'.repeat(256),
]

const use = (alias: string, principal: string, count = 1, at = NOW): AliasUsage => ({
  ...{ alias, principal, count },
  firstSeen: at,
  lastSeen: at,
})

/** The rows of aliases that start with a test's own name, over as many pages as it takes. */
async function rowsOf(storage: AliasUsageStorage, name: string, pageRows = 1000): Promise<AliasUsage[]> {
  const found: AliasUsage[] = []
  // `name` is no row itself, and every row of the test sorts after it.
  let page = await storage.page({ alias: name, principal: ' ' }, pageRows)
  for (;;) {
    found.push(...page.filter(({ alias }) => alias.startsWith(name)))
    if (page.length < pageRows || !page.at(-1)?.alias.startsWith(name)) return found
    page = await storage.page(page.at(-1), pageRows)
  }
}

/**
 * The contract of `AliasUsageStorage`: run it against every adapter. `open` is called once per test and may return
 * views of one shared store, since names are random; give it at least two real connections where there are any.
 */
export function aliasUsageStorageContract(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<AliasUsageStorageUnderTest>,
): void {
  const test = (
    title: string,
    run: (at: (index: number) => AliasUsageStorage, alias: string) => Promise<void>,
  ) =>
    it(title, async () => {
      const { connections, close } = await open()
      try {
        await run(index => connections[index % connections.length] as AliasUsageStorage, randomUUID())
      } finally {
        await close()
      }
    })
  const batch = (rows: readonly AliasUsage[], writer: string = randomUUID(), sequence = 1) => ({
    ...{ writer, sequence, rows },
  })

  describe(`AliasUsageStorage on ${name}`, () => {
    test('adds counts up and keeps the first and last instant, whatever the order', async (at, alias) => {
      const pair = [`${alias}x`, 'key'] as const
      for (const [index, when] of [NOW, NOW + 5, NOW - 5].entries()) {
        assert.equal(await at(index).add(batch([use(...pair, index + 1, when)]), NOW), true)
      }
      assert.deepEqual(await rowsOf(at(1), alias), [
        { alias: pair[0], principal: 'key', count: 6, firstSeen: NOW - 5, lastSeen: NOW + 5 },
      ])
    })

    test('counts a batch that is sent again once, and answers false', async (at, alias) => {
      const sent = batch([use(`${alias}x`, 'key', 3)])
      assert.equal(await at(0).add(sent, NOW), true)
      assert.equal(await at(1).add(sent, NOW), false)
      assert.equal((await rowsOf(at(0), alias))[0]?.count, 3)
    })

    test('adds one of 50 simultaneous sendings of a batch', async (at, alias) => {
      const sent = batch([use(`${alias}x`, 'key')])
      const results = await race(50, index => at(index).add(sent, NOW))
      assert.equal(results.filter(added => added).length, 1)
      assert.equal((await rowsOf(at(0), alias))[0]?.count, 1)
    })

    test('loses no count of 50 simultaneous writers, in opposite orders', async (at, alias) => {
      const rows = Array.from({ length: 20 }, (_, index) => use(`${alias}${index}`, 'key'))
      await race(50, index => at(index).add(batch(index % 2 ? rows : [...rows].reverse()), NOW))
      const counts = (await rowsOf(at(0), alias)).map(({ count }) => count)
      assert.deepEqual(
        counts,
        Array.from({ length: 20 }, () => 50),
      )
    })

    test("keeps the batches of a writer apart from another's with the same number", async (at, alias) => {
      const writer = randomUUID()
      const rows = [use(`${alias}x`, 'key')]
      assert.equal(await at(0).add(batch(rows, writer, 1), NOW), true)
      assert.equal(await at(1).add(batch(rows, writer, 2), NOW), true)
      assert.equal(await at(0).add(batch(rows, writer, 1), NOW), false)
      assert.equal(await at(1).add(batch(rows, `${writer}2`, 1), NOW), true)
      assert.equal((await rowsOf(at(0), alias))[0]?.count, 3)
    })

    test('adds a batch of 500 rows in one step and pages through it in order', async (at, alias) => {
      const rows = Array.from({ length: 500 }, (_, index) => use(`${alias}${index % 7}`, `key ${index}`))
      await at(0).add(batch(rows), NOW)
      const sorted = rows.map(row => `${row.alias}\n${row.principal}`).sort()
      const found = await rowsOf(at(1), alias, 64)
      assert.deepEqual(
        found.map(row => `${row.alias}\n${row.principal}`),
        sorted,
      )
    })

    test('keeps hostile texts apart and gives them back as they came', async (at, alias) => {
      const rows = HOSTILE.flatMap(one => HOSTILE.map(other => use(`${alias}${one}`.slice(0, 256), other)))
      await at(0).add(batch(rows), NOW)
      await at(1).add(batch(rows), NOW)
      const found = await rowsOf(at(0), alias, 100)
      assert.deepEqual(
        new Set(found.map(row => JSON.stringify([row.alias, row.principal, row.count]))).size,
        rows.length,
      )
      assert.ok(found.every(({ count }) => count === 2))
      assert.deepEqual(new Set(found.map(row => row.principal)), new Set(HOSTILE))
    })

    test('holds counts and instants up to the largest exact integer', async (at, alias) => {
      const large = Number.MAX_SAFE_INTEGER - 1
      await at(0).add(batch([use(`${alias}x`, 'key', large, NOW)]), NOW)
      await at(1).add(batch([use(`${alias}x`, 'key', 1, 8_640_000_000_000_000)]), NOW)
      assert.deepEqual(await rowsOf(at(0), alias), [
        {
          alias: `${alias}x`,
          principal: 'key',
          count: large + 1,
          firstSeen: NOW,
          lastSeen: 8_640_000_000_000_000,
        },
      ])
    })

    test('collects at most the given number of rows, none seen at or after the instant', async (at, alias) => {
      // Older than what any other test writes, so that a shared store does not matter.
      const old = NOW - 9_000 * DAY
      const rows = ['a', 'b', 'c'].map(part => use(`${alias}${part}`, 'key', 1, old - 1))
      await at(0).add(batch([...rows, use(`${alias}d`, 'key', 1, old)]), NOW)
      const counts = await race(4, index => at(index).collect(old, 1))
      assert.ok(
        counts.every(count => count === 0 || count === 1),
        `each call may collect at most 1, not ${counts.join()}`,
      )
      await at(0).collect(old, 1000)
      assert.deepEqual(
        (await rowsOf(at(1), alias)).map(row => row.alias),
        [`${alias}d`],
      )
    })
  })
}

/** An adapter whose connection to the store can be hurt, for stores that have one. */
export interface HurtAliasUsageStorage {
  readonly healthy: AliasUsageStorage
  /** The connection dies before the store sees the request. */
  readonly cutBefore: AliasUsageStorage
  /** The store acts, then the connection dies before its answer arrives. */
  readonly cutAfter: AliasUsageStorage
  /** The store's answer is not what the adapter expects. */
  readonly malformed: AliasUsageStorage
  close(): Promise<void>
}

/** The faults of `AliasUsageStorage`: a dead or nonsensical store is a `Fault`, and sending again counts once. */
export function aliasUsageStorageFaults(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<HurtAliasUsageStorage>,
): void {
  const test = (title: string, run: (stores: HurtAliasUsageStorage, alias: string) => Promise<void>) =>
    it(title, async () => {
      const stores = await open()
      try {
        await run(stores, randomUUID())
      } finally {
        await stores.close()
      }
    })
  const isFault = (error: unknown): boolean => error instanceof Fault && error.code.startsWith('ERR_STORE_')
  const batchOf = (alias: string) => ({ writer: randomUUID(), sequence: 1, rows: [use(`${alias}x`, 'key')] })

  describe(`AliasUsageStorage faults on ${name}`, () => {
    test('throws a fault when cut before the store acts, and sending again counts', async (stores, alias) => {
      const batch = batchOf(alias)
      await assert.rejects(stores.cutBefore.add(batch, NOW), isFault)
      assert.equal(await stores.healthy.add(batch, NOW), true)
      assert.equal((await rowsOf(stores.healthy, alias))[0]?.count, 1)
    })

    test('throws a fault when cut after the store acted, and sending again counts once', async (stores, alias) => {
      const batch = batchOf(alias)
      await assert.rejects(stores.cutAfter.add(batch, NOW), isFault)
      assert.equal(await stores.healthy.add(batch, NOW), false)
      assert.equal((await rowsOf(stores.healthy, alias))[0]?.count, 1)
    })

    test('throws a fault on a malformed reply', async (stores, alias) => {
      await stores.healthy.add(batchOf(alias), NOW)
      await assert.rejects(stores.malformed.add(batchOf(alias), NOW), isFault)
    })

    test('throws a fault on malformed rows', async (stores, alias) => {
      await stores.healthy.add(batchOf(alias), NOW)
      await assert.rejects(stores.malformed.page({ alias, principal: ' ' }, 10), isFault)
    })
  })
}
