import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { GRACE_MS } from '@gatewright/kernel'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import type { ReserveOutcome, SpendStorage } from '../storage/port.ts'
import { cents, DAY, NOW, type SpendTest, spendUsageTests } from './spend-usage.ts'

/** A store under test. */
export interface SpendStorageUnderTest {
  /** The adapter over separate connections to the same store; one entry for an in-process store. */
  readonly connections: readonly SpendStorage[]
  /** Closes what `open` opened. */
  close(): Promise<void>
}

/** Distinct names that adapters may confuse or fail to store. */
const HOSTILE = [
  '',
  '\u0000',
  '\ud800',
  "'; drop table gw_spend_counters; --",
  '{tag}:*',
  'line\r\nbreak',
  'é',
  'e\u0301',
  'K',
  'k',
  'x'.repeat(65_536),
]

const used = async (storage: SpendStorage, account: string, counters: readonly string[]): Promise<number[]> =>
  (await storage.usage(account, counters)).map(counter => counter.used)
const held = (results: readonly ReserveOutcome[]): number =>
  results.filter(({ outcome }) => outcome === 'held').length

/**
 * Declares the tests of the `SpendStorage` contract. Run it against every adapter. `open` is called once per test. It may
 * open connections to the same store each time, since accounts are random. If the store has connections, open at least two.
 */
export function spendStorageContract(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<SpendStorageUnderTest>,
): void {
  const test: SpendTest = (title, run) =>
    it(title, async () => {
      const { connections, close } = await open()
      try {
        await run(index => connections[index % connections.length] as SpendStorage, randomUUID())
      } finally {
        await close()
      }
    })

  describe(`SpendStorage on ${name}`, () => {
    test('holds up to the cap exactly and returns what is used', async (at, account) => {
      const first = await at(0).reserve(account, 'a', [cents('day', 60, 100)], NOW)
      assert.deepEqual(first, { outcome: 'held', used: [60] })
      const over = await at(1).reserve(account, 'b', [cents('day', 41, 100)], NOW)
      assert.deepEqual(over, { outcome: 'over', index: 0, used: 60 })
      const last = await at(1).reserve(account, 'c', [cents('day', 40, 100)], NOW)
      assert.deepEqual(last, { outcome: 'held', used: [100] })
      assert.deepEqual(await used(at(0), account, ['day', 'never']), [100, 0])
    })

    test('accepts exactly 20 of 100 simultaneous reservations of 1 under a cap of 20', async (at, account) => {
      const results = await race(100, index =>
        at(index).reserve(account, `h${index}`, [cents('day', 1, 20)], NOW),
      )
      assert.equal(held(results), 20)
      assert.deepEqual(await used(at(0), account, ['day']), [20])
    })

    test('keeps the sum of simultaneous random amounts at or below the cap', async (at, account) => {
      const amounts = Array.from({ length: 60 }, () => randomInt(1, 100))
      const results = await race(amounts.length, index =>
        at(index).reserve(account, `h${index}`, [cents('day', amounts[index] as number, 500)], NOW),
      )
      const sum = amounts.filter((_, n) => results[n]?.outcome === 'held').reduce((a, b) => a + b, 0)
      assert.ok(sum <= 500, `the sum must be at most 500, got ${sum}`)
      assert.deepEqual(await used(at(0), account, ['day']), [sum])
    })

    test('adds to all counters or to none, also for simultaneous reservations in opposite order', async (at, account) => {
      const two = [cents('one', 10, 1000), cents('two', 10, 200)]
      const results = await race(50, index =>
        at(index).reserve(account, `h${index}`, index % 2 ? two : [...two].reverse(), NOW),
      )
      assert.equal(held(results), 20)
      assert.deepEqual(await used(at(0), account, ['one', 'two']), [200, 200])
      const over = await at(0).reserve(account, 'last', two, NOW)
      assert.deepEqual(over, { outcome: 'over', index: 1, used: 200 })
    })

    test('settles at less than was held, keeps whole counts, and settles a hold once', async (at, account) => {
      const items = [cents('day', 50, 100), cents('calls', 1, 5, { unit: 'count' })]
      await at(0).reserve(account, 'h', items, NOW)
      assert.equal(await at(1).settle(account, 'h', 51), 'exceeds')
      assert.equal(await at(1).settle(account, 'h', 20), 'settled')
      assert.equal(await at(0).settle(account, 'h', 10), 'gone')
      assert.equal(await at(0).release(account, 'h'), false)
      assert.deepEqual(await used(at(0), account, ['day', 'calls']), [20, 1])
    })

    test('gives everything back on release', async (at, account) => {
      const items = [cents('day', 50, 100), cents('calls', 1, 5, { unit: 'count' })]
      await at(0).reserve(account, 'h', items, NOW)
      assert.equal(await at(1).release(account, 'h'), true)
      assert.equal(await at(1).settle(account, 'h', 50), 'gone')
      assert.deepEqual(await used(at(0), account, ['day', 'calls']), [0, 0])
    })

    test('lets one of 40 simultaneous settlements and releases of a hold take effect', async (at, account) => {
      await at(0).reserve(account, 'other', [cents('day', 100, 1000)], NOW)
      await at(0).reserve(account, 'h', [cents('day', 100, 1000)], NOW)
      const ended = await race(40, async index =>
        index % 2
          ? (await at(index).settle(account, 'h', 40)) === 'settled'
          : at(index).release(account, 'h'),
      )
      assert.equal(ended.filter(Boolean).length, 1)
      const [day] = await used(at(0), account, ['day'])
      assert.ok(day === 100 || day === 140, `used must be 100 or 140, got ${day}`)
    })

    test('counts a repeated reservation once and reports other amounts under its id as a conflict', async (at, account) => {
      const items = [cents('day', 60, 100)]
      const results = await race(20, index => at(index).reserve(account, 'h', items, NOW))
      assert.equal(held(results), 20)
      assert.deepEqual(await used(at(0), account, ['day']), [60])
      const other = await at(1).reserve(account, 'h', [cents('day', 10, 100)], NOW)
      assert.deepEqual(other, { outcome: 'conflict' })
    })

    test('counts a hold for as long as it exists', async (at, account) => {
      await at(0).reserve(account, 'h', [cents('total', 80, 100, { expiresAt: null })], NOW)
      await at(0).collect(1000, NOW + 400 * DAY)
      const later = await at(1).reserve(account, 'x', [cents('total', 21, 100)], NOW + 400 * DAY)
      assert.deepEqual(later, { outcome: 'over', index: 0, used: 80 })
      assert.equal(await at(1).settle(account, 'h', 80), 'settled')
    })

    test('settles immediately without a hold id', async (at, account) => {
      const item = cents('calls', 1, 2, { unit: 'count' })
      assert.equal(held(await race(10, index => at(index).reserve(account, null, [item], NOW))), 2)
      assert.deepEqual(await used(at(0), account, ['calls']), [2])
    })

    test('keeps accounts, counters and holds with hostile names apart', async (at, account) => {
      const names = HOSTILE.map(hostile => `${account}/${hostile}`)
      for (const [index, hostile] of names.entries()) {
        const own = await at(index).reserve(hostile, hostile, [cents('own', 7, 7)], NOW)
        assert.deepEqual(own, { outcome: 'held', used: [7] })
        const shared = await at(index).reserve(account, hostile, [cents(hostile, 5, 5)], NOW)
        assert.deepEqual(shared, { outcome: 'held', used: [5] })
      }
      assert.deepEqual(
        await used(at(0), account, names),
        names.map(() => 5),
      )
      for (const hostile of names) assert.equal(await at(1).release(account, hostile), true)
      assert.deepEqual(
        await used(at(0), account, names),
        names.map(() => 0),
      )
    })

    spendUsageTests(test)

    test('counts amounts up to the largest safe integer exactly', async (at, account) => {
      const most = Number.MAX_SAFE_INTEGER
      const first = await at(0).reserve(account, 'h', [cents('day', most - 1, most)], NOW)
      assert.deepEqual(first, { outcome: 'held', used: [most - 1] })
      const over = await at(0).reserve(account, 'i', [cents('day', 2, most)], NOW)
      assert.deepEqual(over, { outcome: 'over', index: 0, used: most - 1 })
      assert.equal(await at(0).settle(account, 'h', most - 2), 'settled')
      assert.deepEqual(await used(at(0), account, ['day']), [most - 2])
    })

    test('accepts only zero under a cap of zero', async (at, account) => {
      assert.equal((await at(0).reserve(account, 'a', [cents('day', 0, 0)], NOW)).outcome, 'held')
      assert.equal((await at(0).reserve(account, 'b', [cents('day', 1, 0)], NOW)).outcome, 'over')
    })

    test('compares a changed cap with what is already used', async (at, account) => {
      await at(0).reserve(account, 'a', [cents('day', 80, 100)], NOW)
      const lower = await at(0).reserve(account, 'b', [cents('day', 1, 50)], NOW)
      assert.deepEqual(lower, { outcome: 'over', index: 0, used: 80 })
      const higher = await at(0).reserve(account, 'c', [cents('day', 100, 180)], NOW)
      assert.deepEqual(higher, { outcome: 'held', used: [180] })
    })

    test('deletes at most the given number of expired counters, and none before the grace period ends', async (at, account) => {
      for (const counter of ['a', 'b', 'c']) {
        await at(0).reserve(account, null, [cents(counter, 1, 9, { expiresAt: NOW + 1 })], NOW)
      }
      await at(0).reserve(account, null, [cents('live', 9, 9, { expiresAt: NOW + 2 * GRACE_MS })], NOW)
      await at(0).collect(1000, NOW + GRACE_MS)
      assert.deepEqual(await used(at(1), account, ['a', 'b', 'c']), [1, 1, 1])
      const counts = await race(3, index => at(index).collect(1, NOW + 1 + GRACE_MS))
      assert.ok(
        counts.every(count => count <= 1),
        `each call must delete at most 1 counter, got ${counts.join()}`,
      )
      assert.deepEqual(await used(at(1), account, ['live']), [9])
    })
  })
}
