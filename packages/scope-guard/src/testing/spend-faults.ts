import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import type { TestRunner } from '@gatewright/kernel/testing'
import type { SpendItem, SpendStorage } from '../storage/port.ts'

const NOW = 1_767_225_600_000

/** An adapter whose connection to the store can be hurt, for stores that have one. */
export interface HurtSpendStorage {
  readonly healthy: SpendStorage
  /** The connection dies before the store sees the request. */
  readonly cutBefore: SpendStorage
  /** The store acts, then the connection dies before its answer arrives. */
  readonly cutAfter: SpendStorage
  /** The store's answer is not what the adapter expects. */
  readonly malformed: SpendStorage
  close(): Promise<void>
}

/** The faults of `SpendStorage`: a dead or nonsensical store is a `Fault`, never a yes and never a no. */
export function spendStorageFaults(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<HurtSpendStorage>,
): void {
  const test = (title: string, run: (stores: HurtSpendStorage, account: string) => Promise<void>): void =>
    it(title, async () => {
      const stores = await open()
      try {
        await run(stores, randomUUID())
      } finally {
        await stores.close()
      }
    })
  const isFault = (error: unknown): boolean => error instanceof Fault && error.code.startsWith('ERR_STORE_')
  const items: readonly SpendItem[] = [
    { counter: 'day', unit: 'cents', cap: 100, amount: 60, expiresAt: NOW + 86_400_000 },
  ]

  describe(`SpendStorage faults on ${name}`, () => {
    test('throws when cut before the store acts, and nothing is held', async (stores, account) => {
      await assert.rejects(stores.cutBefore.reserve(account, 'h', items, NOW), isFault)
      assert.deepEqual(await stores.healthy.used(account, ['day']), [0])
    })

    test('throws when cut after the store acted; the hold counts and can be repeated', async (stores, account) => {
      await assert.rejects(stores.cutAfter.reserve(account, 'h', items, NOW), isFault)
      const again = await stores.healthy.reserve(account, 'h', items, NOW)
      assert.deepEqual(again, { outcome: 'held', used: [60] })
    })

    test('throws when a settlement is cut after it took effect; repeating finds it gone', async (stores, account) => {
      await stores.healthy.reserve(account, 'h', items, NOW)
      await assert.rejects(stores.cutAfter.settle(account, 'h', 10), isFault)
      assert.equal(await stores.healthy.settle(account, 'h', 10), 'gone')
      assert.deepEqual(await stores.healthy.used(account, ['day']), [10])
    })

    test('throws on a malformed reply of every verb', async (stores, account) => {
      await stores.healthy.reserve(account, 'h', items, NOW)
      await assert.rejects(stores.malformed.reserve(account, 'i', items, NOW), isFault)
      await assert.rejects(stores.malformed.used(account, ['day']), isFault)
      await assert.rejects(stores.malformed.settle(account, 'h', 1), isFault)
    })
  })
}
