import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { FaultyStorage, TestRunner } from '@gatewright/kernel/testing'
import { isStoreFault, openedTests } from '@gatewright/kernel/internal/testing'
import type { AliasUsageStorage } from '../storage/port.ts'
import { NOW, rowsOf, use } from './rows.ts'

/**
 * Defines the fault tests of `AliasUsageStorage`: if the connection dies or a reply cannot be read, every method throws a
 * `Fault`, and a batch that is sent again counts once.
 */
export function aliasUsageStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<AliasUsageStorage>>,
): void {
  const test = openedTests(runner, open)
  const batchOf = (alias: string) => ({ writer: randomUUID(), sequence: 1, rows: [use(`${alias}x`, 'key')] })

  runner.describe(`AliasUsageStorage faults on ${name}`, () => {
    test('throws a fault when the connection dies before the store acts, and counts the repeated batch', async (stores, alias) => {
      const batch = batchOf(alias)
      await assert.rejects(stores.cutBefore.add(batch, NOW), isStoreFault)
      assert.equal(await stores.healthy.add(batch, NOW), true)
      assert.equal((await rowsOf(stores.healthy, alias))[0]?.count, 1)
    })

    test('throws a fault when the connection dies after the store acted, and counts the repeated batch once', async (stores, alias) => {
      const batch = batchOf(alias)
      await assert.rejects(stores.cutAfter.add(batch, NOW), isStoreFault)
      assert.equal(await stores.healthy.add(batch, NOW), false)
      assert.equal((await rowsOf(stores.healthy, alias))[0]?.count, 1)
    })

    test('throws a fault for a reply that it cannot read', async (stores, alias) => {
      await stores.healthy.add(batchOf(alias), NOW)
      await assert.rejects(stores.malformed.add(batchOf(alias), NOW), isStoreFault)
    })

    test('throws a fault, and returns no empty list, when the connection breaks while rows are read', async (stores, alias) => {
      await stores.healthy.add(batchOf(alias), NOW)
      await assert.rejects(stores.cutBefore.page({ alias, caller: ' ' }, 10), isStoreFault)
    })

    test('throws a fault for rows that it cannot read', async (stores, alias) => {
      await stores.healthy.add(batchOf(alias), NOW)
      await assert.rejects(stores.malformed.page({ alias, caller: ' ' }, 10), isStoreFault)
    })
  })
}
