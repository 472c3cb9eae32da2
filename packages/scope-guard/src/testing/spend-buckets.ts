import assert from 'node:assert/strict'
import { collectBatches, GRACE_MS } from '@gatewright/kernel'
import { race } from '@gatewright/kernel/testing'
import type { CounterUsage, SpendItem, SpendStorage } from '../storage/port.ts'
import { item, NOW, type SpendTest } from './spend-usage.ts'

/** Three buckets count: two older ones and the current one, and the newest, which a host whose clock is ahead may use. */
const bucketsAt = (current: number) => ({ oldest: current - 2, current, newest: current + 1 })
const rolling = (current: number, { amount, cap }: Pick<SpendItem, 'amount' | 'cap'>): SpendItem =>
  item('rolling', { amount, cap, buckets: bucketsAt(current) })

/** What the buckets have that a reservation in `current` counts, without empty ones. */
async function usageAt(storage: SpendStorage, account: string, current: number): Promise<CounterUsage> {
  const [usage] = await storage.usage(account, [{ counter: 'rolling', buckets: bucketsAt(current) }])
  assert.ok(usage)
  return { ...usage, buckets: (usage.buckets ?? []).filter(({ used }) => used > 0) }
}

/** Declares the tests of counters that roll. */
export function spendBucketTests(test: SpendTest): void {
  test('counts what the buckets from the oldest to the newest have together', async (connection, account) => {
    await connection(0).reserve(account, 'a', [rolling(10, { amount: 60, cap: 100 })], NOW)
    await connection(1).reserve(account, 'b', [rolling(11, { amount: 30, cap: 100 })], NOW)
    const buckets = [
      { bucket: 10, used: 60 },
      { bucket: 11, used: 30 },
    ]
    const over = await connection(0).reserve(account, 'c', [rolling(12, { amount: 11, cap: 100 })], NOW)
    assert.equal(over.outcome === 'over' && over.used, 90)
    const withAmount = over.outcome === 'over' ? over.buckets?.filter(({ used }) => used > 0) : undefined
    assert.deepEqual(withAmount, buckets)
    assert.deepEqual(await usageAt(connection(1), account, 12), { used: 90, held: 90, buckets })
    const left = await connection(0).reserve(account, 'd', [rolling(13, { amount: 70, cap: 100 })], NOW)
    assert.deepEqual(left, { outcome: 'held', used: [100] })
    assert.equal((await usageAt(connection(1), account, 14)).used, 70)
  })

  test('counts what a host whose clock is one bucket ahead has added', async (connection, account) => {
    await connection(0).reserve(account, 'ahead', [rolling(11, { amount: 60, cap: 100 })], NOW)
    const behind = await connection(1).reserve(account, 'b', [rolling(10, { amount: 41, cap: 100 })], NOW)
    assert.equal(behind.outcome === 'over' && behind.used, 60)
  })

  test('gives back to the bucket that the reservation added to', async (connection, account) => {
    await connection(0).reserve(account, 'early', [rolling(10, { amount: 60, cap: 100 })], NOW)
    await connection(0).reserve(account, 'late', [rolling(12, { amount: 40, cap: 100 })], NOW)
    assert.equal(await connection(1).settle(account, 'early', 20), 'settled')
    const settled = [
      { bucket: 10, used: 20 },
      { bucket: 12, used: 40 },
    ]
    assert.deepEqual(await usageAt(connection(0), account, 12), { used: 60, held: 40, buckets: settled })
    assert.equal(await connection(1).release(account, 'late'), true)
    const [first] = settled
    assert.deepEqual(await usageAt(connection(0), account, 12), { used: 20, held: 0, buckets: [first] })
  })

  test('finds the hold of a reservation that is repeated in a later bucket', async (connection, account) => {
    const items = (current: number, amount: number) => [
      item('day', { amount: 1, cap: 5 }),
      rolling(current, { amount, cap: 100 }),
    ]
    await connection(0).reserve(account, 'h', items(10, 60), NOW)
    const again = await connection(1).reserve(account, 'h', items(11, 60), NOW)
    assert.deepEqual(again, { outcome: 'held', used: [1, 60] })
    const other = await connection(1).reserve(account, 'h', items(11, 61), NOW)
    assert.deepEqual(other, { outcome: 'conflict' })
    assert.equal(await connection(1).release(account, 'h'), true)
    assert.equal((await usageAt(connection(0), account, 11)).used, 0)
  })

  test('accepts exactly 20 of 100 simultaneous reservations in two buckets under a cap of 20', async (connection, account) => {
    const results = await race(100, index =>
      connection(index).reserve(
        account,
        `h${index}`,
        [rolling(10 + (index % 2), { amount: 1, cap: 20 })],
        NOW,
      ),
    )
    assert.equal(results.filter(({ outcome }) => outcome === 'held').length, 20)
    assert.equal((await usageAt(connection(0), account, 11)).used, 20)
  })

  test('keeps counters that roll apart from others, and their holds', async (connection, account) => {
    const items = [
      item('plain', { amount: 5, cap: 9 }),
      rolling(10, { amount: 7, cap: 9 }),
      item('other', { amount: 8, cap: 9, buckets: bucketsAt(10) }),
    ]
    assert.deepEqual(await connection(0).reserve(account, 'h', items, NOW), {
      outcome: 'held',
      used: [5, 7, 8],
    })
    const second = await connection(1).reserve(account, 'i', items, NOW)
    assert.equal(second.outcome === 'over' && second.index, 0)
    const usage = await connection(1).usage(account, [
      { counter: 'other', buckets: bucketsAt(10) },
      'plain',
      { counter: 'rolling', buckets: bucketsAt(10) },
    ])
    assert.deepEqual(
      usage.map(({ used, held }) => [used, held]),
      [
        [8, 8],
        [5, 5],
        [7, 7],
      ],
    )
    assert.equal(await connection(0).settle(account, 'h', 3), 'settled')
    assert.equal((await usageAt(connection(1), account, 10)).used, 3)
  })

  test('deletes the buckets that have expired, and no others', async (connection, account, expiresNatively) => {
    const at = (current: number): SpendItem => ({
      ...rolling(current, { amount: 1, cap: 9 }),
      expiresAt: NOW + current,
    })
    for (const current of [10, 11, 12]) await connection(0).reserve(account, null, [at(current)], NOW)
    await collectBatches(limit => connection(0).collect(limit, NOW + 11 + GRACE_MS), 1000)
    if (!expiresNatively)
      assert.deepEqual((await usageAt(connection(1), account, 12)).buckets, [{ bucket: 12, used: 1 }])
  })
}
