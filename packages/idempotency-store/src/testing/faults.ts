import assert from 'node:assert/strict'
import { type FaultyStorage, isStoreFault, openedTests, type TestRunner } from '@gatewright/kernel/testing'
import type { IdempotencyStorage } from '../storage/port.ts'
import { DAY, LEASE, NOW, started } from './support.ts'

/** An adapter whose connection to the store can be hurt, for stores that have one. */
export type FaultyIdempotencyStorage = FaultyStorage<IdempotencyStorage>

/** The faults of `IdempotencyStorage`: a dead or nonsensical store is a `Fault`, never a yes and never a no. */
export function idempotencyStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyIdempotencyStorage>,
): void {
  const test = openedTests(runner, open)
  const DONE = { state: 'done', answer: '{}', expiresAt: NOW + DAY } as const

  runner.describe(`IdempotencyStorage faults on ${name}`, () => {
    test('throws when cut before a begin, and the key stays new', async (stores, key) => {
      await assert.rejects(stores.cutBefore.begin(key, 'a', LEASE, NOW), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, NOW)).state, 'started')
    })

    test('throws when cut after a begin, and the key is running, then lost, never new', async (stores, key) => {
      await assert.rejects(stores.cutAfter.begin(key, 'a', LEASE, NOW), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, NOW)).state, 'running')
      assert.equal((await stores.healthy.begin(key, 'a', LEASE + DAY, LEASE)).state, 'lost')
    })

    test('throws when cut before an ending, and the run goes on', async (stores, key) => {
      const fence = started(await stores.healthy.begin(key, 'a', LEASE, NOW))
      await assert.rejects(stores.cutBefore.end(key, fence, DONE, NOW), isStoreFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, NOW)).state, 'running')
    })

    test('throws when cut after an ending, which can then be repeated', async (stores, key) => {
      const fence = started(await stores.healthy.begin(key, 'a', LEASE, NOW))
      await assert.rejects(stores.cutAfter.end(key, fence, DONE, NOW), isStoreFault)
      assert.equal(await stores.healthy.end(key, fence, DONE, NOW), true)
      assert.deepEqual(await stores.healthy.begin(key, 'a', LEASE, NOW), DONE)
    })

    test('throws on malformed replies', async (stores, key) => {
      await assert.rejects(stores.malformed.begin(key, 'a', LEASE, NOW), isStoreFault)
      await assert.rejects(stores.malformed.begin(key, 'a', LEASE, NOW), isStoreFault)
      const fence = started(await stores.healthy.begin(`${key}2`, 'a', LEASE, NOW))
      await assert.rejects(stores.malformed.end(`${key}2`, fence, DONE, NOW), isStoreFault)
    })
  })
}
