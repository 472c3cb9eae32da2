import assert from 'node:assert/strict'
import type { FaultyStorage, TestRunner } from '@gatewright/kernel/testing'
import { isStoreFault, openedTests } from '@gatewright/kernel/internal/testing'
import type { SpendItem, SpendStorage } from '../storage/port.ts'

const NOW = 1_767_225_600_000

/**
 * Declares the tests of the faults of `SpendStorage`, for stores with connections. An unavailable store and a malformed reply
 * must be a `Fault`, and never the outcome of a reservation.
 */
export function spendStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<SpendStorage>>,
): void {
  const test = openedTests(runner, open)
  const items: readonly SpendItem[] = [
    { counter: 'day', unit: 'cents', cap: 100, amount: 60, expiresAt: NOW + 86_400_000 },
  ]

  runner.describe(`SpendStorage faults on ${name}`, () => {
    test('throws if the connection is cut before the store acts, and holds nothing', async (stores, account) => {
      await assert.rejects(stores.cutBefore.reserve(account, 'h', items, NOW), isStoreFault)
      assert.deepEqual(await stores.healthy.usage(account, ['day']), [{ used: 0, held: 0 }])
    })

    test('throws if the connection is cut after the store acted; the hold counts and can be repeated', async (stores, account) => {
      await assert.rejects(stores.cutAfter.reserve(account, 'h', items, NOW), isStoreFault)
      const again = await stores.healthy.reserve(account, 'h', items, NOW)
      assert.deepEqual(again, { outcome: 'held', used: [60] })
    })

    test('throws if a settlement is cut after it took effect; a repeated one finds the hold gone', async (stores, account) => {
      await stores.healthy.reserve(account, 'h', items, NOW)
      await assert.rejects(stores.cutAfter.settle(account, 'h', 10), isStoreFault)
      assert.equal(await stores.healthy.settle(account, 'h', 10), 'gone')
      assert.deepEqual(await stores.healthy.usage(account, ['day']), [{ used: 10, held: 0 }])
    })

    test('throws if the connection is cut while usage is read, and never reports that nothing is used', async (stores, account) => {
      await stores.healthy.reserve(account, 'h', items, NOW)
      await assert.rejects(stores.cutBefore.usage(account, ['day']), isStoreFault)
    })

    test('throws if the connection is cut before a hold ends, and the hold still counts', async (stores, account) => {
      await stores.healthy.reserve(account, 'h', items, NOW)
      await assert.rejects(stores.cutBefore.release(account, 'h'), isStoreFault)
      await assert.rejects(stores.cutBefore.settle(account, 'h', 10), isStoreFault)
      assert.deepEqual(await stores.healthy.usage(account, ['day']), [{ used: 60, held: 60 }])
    })

    test('throws on a malformed reply to every call', async (stores, account) => {
      await stores.healthy.reserve(account, 'h', items, NOW)
      await assert.rejects(stores.malformed.reserve(account, 'i', items, NOW), isStoreFault)
      await assert.rejects(stores.malformed.usage(account, ['day']), isStoreFault)
      await assert.rejects(stores.malformed.settle(account, 'h', 1), isStoreFault)
    })
  })
}
