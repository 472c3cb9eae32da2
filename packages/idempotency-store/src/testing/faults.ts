import assert from 'node:assert/strict'
import { type FaultyStorage, isStoreFault, openedTests, type TestRunner } from '@gatewright/kernel/testing'
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

    test('throws on replies that it cannot read', async (stores, key) => {
      await assert.rejects(stores.malformed.begin(key, 'a', LEASE, NOW), isStoreFault)
      await assert.rejects(stores.malformed.begin(key, 'a', LEASE, NOW), isStoreFault)
      const fence = started(await stores.healthy.begin(`${key}2`, 'a', LEASE, NOW))
      await assert.rejects(stores.malformed.end(`${key}2`, fence, DONE, NOW), isStoreFault)
    })
  })
}
