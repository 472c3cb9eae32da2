import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { collectBatches, GRACE_MS } from '@gatewright/kernel'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import { connectionTests } from '@gatewright/kernel/internal/testing'
import type { ReserveOutcome, SpendItem, SpendStorage } from '../storage/port.ts'
import { spendBucketTests } from './spend-buckets.ts'
import { DAY, item, NOW, spendReadTests, type SpendTest } from './spend-usage.ts'

/** A store under test. */
export interface SpendStorageUnderTest {
  /** The adapter over separate connections to the same store; one entry for an in-process store. */
  readonly connections: readonly SpendStorage[]
  /** True if expired counters are deleted without `collect`. Otherwise the suite requires that `collect` deletes them. */
  readonly expiresNatively?: boolean
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
  runner: TestRunner,
  name: string,
  open: () => Promise<SpendStorageUnderTest>,
): void {
  const test: SpendTest = connectionTests(runner, open)

  runner.describe(`SpendStorage on ${name}`, () => {
    test('holds up to the cap exactly and returns what is used', async (connection, account) => {
      const first = await connection(0).reserve(account, 'a', [item('day', { amount: 60, cap: 100 })], NOW)
      assert.deepEqual(first, { outcome: 'held', used: [60] })
      const over = await connection(1).reserve(account, 'b', [item('day', { amount: 41, cap: 100 })], NOW)
      assert.deepEqual(over, { outcome: 'over', index: 0, used: 60 })
      const last = await connection(1).reserve(account, 'c', [item('day', { amount: 40, cap: 100 })], NOW)
      assert.deepEqual(last, { outcome: 'held', used: [100] })
      assert.deepEqual(await used(connection(0), account, ['day', 'never']), [100, 0])
    })

    test('accepts exactly 20 of 100 simultaneous reservations of 1 under a cap of 20', async (connection, account) => {
      const results = await race(100, index =>
        connection(index).reserve(account, `h${index}`, [item('day', { amount: 1, cap: 20 })], NOW),
      )
      assert.equal(held(results), 20)
      assert.deepEqual(await used(connection(0), account, ['day']), [20])
    })

    test('keeps the sum of simultaneous random amounts at or below the cap', async (connection, account) => {
      const amounts = Array.from({ length: 60 }, () => randomInt(1, 100))
      const results = await race(amounts.length, index =>
        connection(index).reserve(
          account,
          `h${index}`,
          [item('day', { amount: amounts[index] as number, cap: 500 })],
          NOW,
        ),
      )
      const sum = amounts.filter((_, n) => results[n]?.outcome === 'held').reduce((a, b) => a + b, 0)
      assert.ok(sum <= 500, `the sum must be at most 500, got ${sum}`)
      assert.deepEqual(await used(connection(0), account, ['day']), [sum])
    })

    test('adds to all counters or to none, also for simultaneous reservations in opposite order', async (connection, account) => {
      const two = [item('one', { amount: 10, cap: 1000 }), item('two', { amount: 10, cap: 200 })]
      const results = await race(50, index =>
        connection(index).reserve(account, `h${index}`, index % 2 ? two : [...two].reverse(), NOW),
      )
      assert.equal(held(results), 20)
      assert.deepEqual(await used(connection(0), account, ['one', 'two']), [200, 200])
      const over = await connection(0).reserve(account, 'last', two, NOW)
      assert.deepEqual(over, { outcome: 'over', index: 1, used: 200 })
    })

    test('settles once, lowers amounts to what was spent, and leaves counts as they are', async (connection, account) => {
      const items = [
        item('day', { amount: 50, cap: 100 }),
        item('calls', { amount: 1, cap: 5, unit: 'count' }),
      ]
      await connection(0).reserve(account, 'h', items, NOW)
      assert.equal(await connection(1).settle(account, 'h', 51), 'exceeds')
      assert.equal(await connection(1).settle(account, 'h', 20), 'settled')
      assert.equal(await connection(0).settle(account, 'h', 10), 'gone')
      assert.equal(await connection(0).release(account, 'h'), false)
      assert.deepEqual(await used(connection(0), account, ['day', 'calls']), [20, 1])
    })

    test('keeps everything of a hold that is settled in full', async (connection, account) => {
      const items = [
        item('day', { amount: 50, cap: 100 }),
        item('month', { amount: 40, cap: 100 }),
        item('nothing', { amount: 0, cap: 100 }),
        item('calls', { amount: 1, cap: 5, unit: 'count' }),
      ]
      await connection(0).reserve(account, 'h', items, NOW)
      assert.equal(await connection(1).settle(account, 'h', null), 'settled')
      assert.equal(await connection(0).settle(account, 'h', null), 'gone')
      assert.deepEqual(await connection(0).usage(account, ['day', 'month', 'calls']), [
        { used: 50, held: 0 },
        { used: 40, held: 0 },
        { used: 1, held: 0 },
      ])
    })

    test('gives everything back on release', async (connection, account) => {
      const items = [
        item('day', { amount: 50, cap: 100 }),
        item('calls', { amount: 1, cap: 5, unit: 'count' }),
      ]
      await connection(0).reserve(account, 'h', items, NOW)
      assert.equal(await connection(1).release(account, 'h'), true)
      assert.equal(await connection(1).settle(account, 'h', 50), 'gone')
      assert.deepEqual(await used(connection(0), account, ['day', 'calls']), [0, 0])
    })

    test('lets one of 40 simultaneous settlements and releases of a hold take effect', async (connection, account) => {
      await connection(0).reserve(account, 'other', [item('day', { amount: 100, cap: 1000 })], NOW)
      await connection(0).reserve(account, 'h', [item('day', { amount: 100, cap: 1000 })], NOW)
      const ended = await race(40, async index =>
        index % 2
          ? (await connection(index).settle(account, 'h', 40)) === 'settled'
          : connection(index).release(account, 'h'),
      )
      assert.equal(ended.filter(Boolean).length, 1)
      const [day] = await used(connection(0), account, ['day'])
      assert.ok(day === 100 || day === 140, `used must be 100 or 140, got ${day}`)
    })

    test('counts a repeated reservation once and reports other amounts under its id as a conflict', async (connection, account) => {
      const items = [item('day', { amount: 60, cap: 100 })]
      const results = await race(20, index => connection(index).reserve(account, 'h', items, NOW))
      assert.equal(held(results), 20)
      assert.deepEqual(await used(connection(0), account, ['day']), [60])
      const other = await connection(1).reserve(account, 'h', [item('day', { amount: 10, cap: 100 })], NOW)
      assert.deepEqual(other, { outcome: 'conflict' })
      const more = await connection(1).reserve(
        account,
        'h',
        [...items, item('calls', { amount: 1, cap: 5 })],
        NOW,
      )
      assert.deepEqual(more, { outcome: 'conflict' })
      assert.deepEqual(await used(connection(0), account, ['day', 'calls']), [60, 0])
    })

    test('finds the hold of a reservation that is repeated in a later window of its counters', async (connection, account) => {
      const on = (date: string, amount: number) => [
        item('calls', { amount: 1, cap: 5, unit: 'count' }),
        item(`day@${date}`, { amount, cap: 100, series: 'day' }),
      ]
      await connection(0).reserve(account, 'h', on('2026-01-01', 60), NOW)
      const again = await race(20, index =>
        connection(index).reserve(account, 'h', on('2026-01-02', 60), NOW + DAY),
      )
      assert.deepEqual(
        again,
        again.map(() => ({ outcome: 'held', used: [1, 0] })),
      )
      const days = ['day@2026-01-01', 'day@2026-01-02']
      assert.deepEqual(await used(connection(1), account, [...days, 'calls']), [60, 0, 1])
      const [calls, day] = on('2026-01-02', 60) as [SpendItem, SpendItem]
      const others = [
        [calls, { ...day, amount: 61 }],
        [day],
        [day, calls],
        [calls, { ...day, unit: 'count' as const }],
        [calls, { ...day, series: 'week' }],
        [calls, item('day@2026-01-02', { amount: 60, cap: 100 })],
        [calls, item('day', { amount: 60, cap: 100 })],
      ]
      for (const other of others)
        assert.deepEqual(await connection(1).reserve(account, 'h', other, NOW + DAY), {
          outcome: 'conflict',
        })
      // The counter may be deleted by then, and the hold is found and ends all the same.
      await connection(0).collect(1000, NOW + 400 * DAY)
      const late = await connection(1).reserve(account, 'h', on('2027-02-05', 60), NOW + 400 * DAY)
      assert.equal(late.outcome, 'held')
      assert.equal(await connection(1).settle(account, 'h', 20), 'settled')
      assert.deepEqual(await used(connection(0), account, ['day@2026-01-02', 'day@2027-02-05']), [0, 0])
    })

    test('gives back to the window of the reservation, also if it was repeated in a later one', async (connection, account) => {
      const on = (date: string, amount: number) => [item(`day@${date}`, { amount, cap: 100, series: 'day' })]
      await connection(0).reserve(account, 'h', on('2026-01-01', 60), NOW)
      const again = await connection(1).reserve(account, 'h', on('2026-01-02', 60), NOW)
      assert.deepEqual(again, { outcome: 'held', used: [0] })
      const full = await connection(0).reserve(account, 'i', on('2026-01-02', 100), NOW)
      assert.deepEqual(full, { outcome: 'held', used: [100] })
      const over = await connection(0).reserve(account, 'j', on('2026-01-01', 41), NOW)
      assert.deepEqual(over, { outcome: 'over', index: 0, used: 60 })
      assert.equal(await connection(1).settle(account, 'h', 20), 'settled')
      const days = ['day@2026-01-01', 'day@2026-01-02']
      assert.deepEqual(await used(connection(0), account, days), [20, 100])
    })

    test('finds a hold of a version that did not store the series, in the same window', async (connection, account) => {
      const before = [item('day@2026-01-01', { amount: 60, cap: 100 })]
      const now = before.map(each => ({ ...each, series: 'day' }))
      await connection(0).reserve(account, 'old', before, NOW)
      const found = await connection(1).reserve(account, 'old', now, NOW)
      assert.deepEqual(found, { outcome: 'held', used: [60] })
      const later = [item('day@2026-01-02', { amount: 60, cap: 100, series: 'day' })]
      assert.deepEqual(await connection(1).reserve(account, 'old', later, NOW), { outcome: 'conflict' })
    })

    test('reports a conflict if one of several amounts of a repeated reservation differs', async (connection, account) => {
      const both = (second: number) => [
        item('one', { amount: 1, cap: 9 }),
        item('two', { amount: second, cap: 9 }),
      ]
      await connection(0).reserve(account, 'h', both(2), NOW)
      const other = await connection(1).reserve(account, 'h', both(3), NOW)
      assert.deepEqual(other, { outcome: 'conflict' })
      assert.deepEqual(await used(connection(0), account, ['one', 'two']), [1, 2])
    })

    test('keeps the counter of an open hold, also 400 days later', async (connection, account) => {
      await connection(0).reserve(
        account,
        'h',
        [item('total', { amount: 80, cap: 100, expiresAt: null })],
        NOW,
      )
      await connection(0).collect(1000, NOW + 400 * DAY)
      const later = await connection(1).reserve(
        account,
        'x',
        [item('total', { amount: 21, cap: 100 })],
        NOW + 400 * DAY,
      )
      assert.deepEqual(later, { outcome: 'over', index: 0, used: 80 })
      assert.equal(await connection(1).settle(account, 'h', 80), 'settled')
    })

    test('counts a reservation without a hold id at once', async (connection, account) => {
      const call = item('calls', { amount: 1, cap: 2, unit: 'count' })
      assert.equal(held(await race(10, index => connection(index).reserve(account, null, [call], NOW))), 2)
      assert.deepEqual(await used(connection(0), account, ['calls']), [2])
    })

    test('keeps accounts, counters and holds with hostile names apart', async (connection, account) => {
      const names = HOSTILE.map(hostile => `${account}/${hostile}`)
      for (const [index, hostile] of names.entries()) {
        const own = await connection(index).reserve(
          hostile,
          hostile,
          [item('own', { amount: 7, cap: 7 })],
          NOW,
        )
        assert.deepEqual(own, { outcome: 'held', used: [7] })
        const shared = await connection(index).reserve(
          account,
          hostile,
          [item(hostile, { amount: 5, cap: 5 })],
          NOW,
        )
        assert.deepEqual(shared, { outcome: 'held', used: [5] })
      }
      assert.deepEqual(
        await used(connection(0), account, names),
        names.map(() => 5),
      )
      for (const hostile of names) assert.equal(await connection(1).release(account, hostile), true)
      assert.deepEqual(
        await used(connection(0), account, names),
        names.map(() => 0),
      )
    })

    test('counts amounts up to the largest safe integer exactly', async (connection, account) => {
      const most = Number.MAX_SAFE_INTEGER
      const first = await connection(0).reserve(
        account,
        'h',
        [item('day', { amount: most - 1, cap: most })],
        NOW,
      )
      assert.deepEqual(first, { outcome: 'held', used: [most - 1] })
      const over = await connection(0).reserve(account, 'i', [item('day', { amount: 2, cap: most })], NOW)
      assert.deepEqual(over, { outcome: 'over', index: 0, used: most - 1 })
      assert.equal(await connection(0).settle(account, 'h', most - 2), 'settled')
      assert.deepEqual(await used(connection(0), account, ['day']), [most - 2])
    })

    test('accepts only zero under a cap of zero', async (connection, account) => {
      assert.equal(
        (await connection(0).reserve(account, 'a', [item('day', { amount: 0, cap: 0 })], NOW)).outcome,
        'held',
      )
      assert.equal(
        (await connection(0).reserve(account, 'b', [item('day', { amount: 1, cap: 0 })], NOW)).outcome,
        'over',
      )
    })

    test('compares a changed cap with what is already used', async (connection, account) => {
      await connection(0).reserve(account, 'a', [item('day', { amount: 80, cap: 100 })], NOW)
      const lower = await connection(0).reserve(account, 'b', [item('day', { amount: 1, cap: 50 })], NOW)
      assert.deepEqual(lower, { outcome: 'over', index: 0, used: 80 })
      const higher = await connection(0).reserve(account, 'c', [item('day', { amount: 100, cap: 180 })], NOW)
      assert.deepEqual(higher, { outcome: 'held', used: [180] })
    })

    test('deletes at most the given number of expired counters, and none before the grace period ends', async (connection, account, expiresNatively) => {
      const ended = ['a', 'b', 'c']
      for (const counter of ended) {
        await connection(0).reserve(
          account,
          null,
          [item(counter, { amount: 1, cap: 9, expiresAt: NOW + 1 })],
          NOW,
        )
      }
      await connection(0).reserve(
        account,
        null,
        [item('live', { amount: 9, cap: 9, expiresAt: NOW + 2 * GRACE_MS })],
        NOW,
      )
      await connection(0).collect(1000, NOW + GRACE_MS)
      assert.deepEqual(await used(connection(1), account, ended), [1, 1, 1])
      const counts = await race(3, index => connection(index).collect(1, NOW + 1 + GRACE_MS))
      assert.ok(
        counts.every(count => count >= 0 && count <= 1),
        `each call must delete at most 1 counter, got ${counts.join()}`,
      )
      const others = await collectBatches(limit => connection(0).collect(limit, NOW + 1 + GRACE_MS), 1000)
      const total = counts.reduce((sum, count) => sum + count, others)
      if (expiresNatively) assert.equal(total, 0)
      else {
        assert.ok(total >= ended.length, `calls must return how many counters they deleted, got ${total}`)
        assert.deepEqual(await used(connection(1), account, ended), [0, 0, 0])
      }
      assert.deepEqual(await used(connection(1), account, ['live']), [9])
    })

    spendReadTests(test)
    spendBucketTests(test)
  })
}
