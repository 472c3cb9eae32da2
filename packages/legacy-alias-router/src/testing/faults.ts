import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import type { TestRunner } from '@gatewright/kernel/testing'
import type { AliasUsageStorage } from '../storage/port.ts'
import { NOW, rowsOf, use } from './rows.ts'

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
