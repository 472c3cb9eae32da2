import assert from 'node:assert/strict'
import type { FaultyStorage, TestRunner } from '@gatewright/kernel/testing'
import { isStoreFault, openedTests } from '@gatewright/kernel/internal/testing'
import type { IdempotencyStorage } from '../storage/port.ts'
import { DAY, LEASE, NOW, started } from './support.ts'

/**
 * Defines the fault tests of `IdempotencyStorage`: if the connection dies or a reply cannot be read, every method throws a
 * `Fault` and never returns a result.
 */
export function idempotencyStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<IdempotencyStorage>>,
): void {
  const test = openedTests(runner, open)
  const DONE = { state: 'done', response: '{}', expiresAt: NOW + DAY } as const

  runner.describe(`IdempotencyStorage faults on ${name}`, () => {
    test('throws when the connection dies before a begin, and the key stays new', async (stores, key) => {
      await assert.rejects(stores.cutBefore.begin(key, 'a', LEASE, NOW), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, NOW)).state, 'started')
    })

    test('throws when the connection dies after a begin, and the key is running, then lost, never new', async (stores, key) => {
      await assert.rejects(stores.cutAfter.begin(key, 'a', LEASE, NOW), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, NOW)).state, 'running')
      assert.equal((await stores.healthy.begin(key, 'a', LEASE + DAY, LEASE)).state, 'lost')
    })

    test('throws when the connection dies before an ending, and the run is still running', async (stores, key) => {
      const fence = started(await stores.healthy.begin(key, 'a', LEASE, NOW))
      await assert.rejects(stores.cutBefore.end(key, fence, DONE, NOW), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, NOW)).state, 'running')
    })

    test('throws when the connection dies after an ending, which can then be repeated', async (stores, key) => {
      const fence = started(await stores.healthy.begin(key, 'a', LEASE, NOW))
      await assert.rejects(stores.cutAfter.end(key, fence, DONE, NOW), isStoreFault)
      assert.equal(await stores.healthy.end(key, fence, DONE, NOW), true)
      assert.deepEqual(await stores.healthy.begin(key, 'a', LEASE, NOW), DONE)
    })

    test('throws when the connection dies in an extension, which can then be repeated', async (stores, key) => {
      const fence = started(await stores.healthy.begin(key, 'a', LEASE, NOW))
      await assert.rejects(stores.cutBefore.extend(key, fence, LEASE + DAY, NOW), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, LEASE)).state, 'lost')
      await assert.rejects(stores.cutAfter.extend(key, fence, LEASE + DAY, LEASE - 1), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, LEASE)).state, 'running')
      assert.equal(await stores.healthy.extend(key, fence, LEASE + DAY, LEASE - 1), true)
    })

    test('throws when the connection dies in a take-over, after which the run is lost again, never free', async (stores, key) => {
      const fence = started(await stores.healthy.begin(key, 'a', LEASE, NOW))
      await assert.rejects(stores.cutBefore.takeOver(key, fence, LEASE + DAY, LEASE), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, LEASE)).state, 'lost')
      await assert.rejects(stores.cutAfter.takeOver(key, fence, LEASE + DAY, LEASE), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, LEASE)).state, 'running')
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, LEASE + DAY)).state, 'lost')
    })

    test('throws when the connection dies while a record or lost runs are read', async (stores, key) => {
      started(await stores.healthy.begin(key, 'a', LEASE, NOW))
      for (const store of [stores.cutBefore, stores.malformed])
        await assert.rejects(store.find(key), isStoreFault)
      const page = { limit: 1000, now: LEASE }
      await assert.rejects(stores.cutBefore.listLost(page), isStoreFault)
      await assert.rejects(stores.malformed.listLost(page), isStoreFault)
    })

    test('throws on replies that it cannot read', async (stores, key) => {
      await assert.rejects(stores.malformed.begin(key, 'a', LEASE, NOW), isStoreFault)
      await assert.rejects(stores.malformed.begin(key, 'a', LEASE, NOW), isStoreFault)
      const fence = started(await stores.healthy.begin(`${key}2`, 'a', LEASE, NOW))
      await assert.rejects(stores.malformed.end(`${key}2`, fence, DONE, NOW), isStoreFault)
      const another = started(await stores.healthy.begin(`${key}3`, 'a', LEASE, NOW))
      await assert.rejects(stores.malformed.extend(`${key}3`, another, LEASE, NOW), isStoreFault)
      await assert.rejects(stores.malformed.takeOver(`${key}3`, another, LEASE + DAY, LEASE), isStoreFault)
    })
  })
}
