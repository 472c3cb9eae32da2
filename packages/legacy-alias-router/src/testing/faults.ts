import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type FaultyStorage, isStoreFault, openedTests, type TestRunner } from '@gatewright/kernel/testing'
import type { AliasUsageStorage } from '../storage/port.ts'
import { NOW, rowsOf, use } from './rows.ts'

/** An adapter whose connection to the store can be hurt, for stores that have one. */
export type FaultyAliasUsageStorage = FaultyStorage<AliasUsageStorage>

/** The faults of `AliasUsageStorage`: a dead or nonsensical store is a `Fault`, and sending again counts once. */
export function aliasUsageStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyAliasUsageStorage>,
): void {
  const test = openedTests(runner, open)
  const batchOf = (alias: string) => ({ writer: randomUUID(), sequence: 1, rows: [use(`${alias}x`, 'key')] })

  runner.describe(`AliasUsageStorage faults on ${name}`, () => {
    test('throws a fault when cut before the store acts, and sending again counts', async (stores, alias) => {
      const batch = batchOf(alias)
      await assert.rejects(stores.cutBefore.add(batch, NOW), isStoreFault)
      assert.equal(await stores.healthy.add(batch, NOW), true)
      assert.equal((await rowsOf(stores.healthy, alias))[0]?.count, 1)
    })

    test('throws a fault when cut after the store acted, and sending again counts once', async (stores, alias) => {
      const batch = batchOf(alias)
      await assert.rejects(stores.cutAfter.add(batch, NOW), isStoreFault)
      assert.equal(await stores.healthy.add(batch, NOW), false)
      assert.equal((await rowsOf(stores.healthy, alias))[0]?.count, 1)
    })

    test('throws a fault on a malformed reply', async (stores, alias) => {
      await stores.healthy.add(batchOf(alias), NOW)
      await assert.rejects(stores.malformed.add(batchOf(alias), NOW), isStoreFault)
    })

    test('throws a fault on malformed rows', async (stores, alias) => {
      await stores.healthy.add(batchOf(alias), NOW)
      await assert.rejects(stores.malformed.page({ alias, principal: ' ' }, 10), isStoreFault)
    })
  })
}
