import assert from 'node:assert/strict'
import { collectBatches, GRACE_MS } from '@gatewright/kernel'
import { type FaultyStorage, race, type TestRunner } from '@gatewright/kernel/testing'
import { connectionTests, isStoreFault, openedTests } from '@gatewright/kernel/internal/testing'
import type { NonceStorage } from '../storage/port.ts'
import { countTrue, HOSTILE_KEYS, MINUTE, NOW, type NoncesUnderTest } from './storage-under-test.ts'

/**
 * Contract suite of `NonceStorage`: run it against every adapter. `open` is called once per test. It may return views
 * of one shared store, because keys are random. Give it at least two real connections where the store has connections.
 */
export function nonceStorageContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<NoncesUnderTest<NonceStorage>>,
): void {
  const test = connectionTests(runner, open)

  runner.describe(`NonceStorage on ${name}`, () => {
    test('accepts the first claim of a key and rejects others while it is live', async (connection, key) => {
      assert.equal(await connection(0).claim(key, NOW + MINUTE, NOW), true)
      assert.equal(await connection(1).claim(key, NOW + MINUTE, NOW), false)
      assert.equal(await connection(0).claim(key, NOW + 9 * MINUTE, NOW + 1), false)
    })

    test('lets one of 50 simultaneous claims win', async (connection, key) => {
      const results = await race(50, index => connection(index).claim(key, NOW + MINUTE, NOW))
      assert.equal(countTrue(results), 1)
    })

    test('lets one of 50 simultaneous claims of an expired key win', async (connection, key) => {
      await connection(0).claim(key, NOW + 1, NOW)
      const results = await race(50, index => connection(index).claim(key, NOW + MINUTE, NOW + 1))
      assert.equal(countTrue(results), 1)
    })

    test('rejects a key until 1 ms before its expiry and accepts it again at the expiry', async (connection, key) => {
      await connection(0).claim(key, NOW + MINUTE, NOW)
      assert.equal(await connection(1).claim(key, NOW + 2 * MINUTE, NOW + MINUTE - 1), false)
      assert.equal(await connection(1).claim(key, NOW + 2 * MINUTE, NOW + MINUTE), true)
    })

    test('keeps the expiry of a live key when another claim is rejected', async (connection, key) => {
      await connection(0).claim(key, NOW + 5 * MINUTE, NOW)
      await connection(1).claim(key, NOW + MINUTE, NOW)
      assert.equal(await connection(1).claim(key, NOW + 9 * MINUTE, NOW + 5 * MINUTE - 1), false)
    })

    test('deletes nothing that a host 60 s behind still needs', async (connection, key) => {
      await connection(0).claim(key, NOW + MINUTE, NOW)
      const fast = NOW + 2 * MINUTE
      await connection(0).collect(1000, fast)
      assert.equal(await connection(1).claim(key, NOW + 9 * MINUTE, fast - MINUTE - 1), false)
    })

    test('keeps keys apart that differ in case, spaces, control characters or length', async (connection, key) => {
      const keys = HOSTILE_KEYS.map(hostile => `${key}${hostile}`)
      const first = await race(keys.length, index =>
        connection(index).claim(keys[index] as string, NOW + MINUTE, NOW),
      )
      const again = await race(keys.length, index =>
        connection(index + 1).claim(keys[index] as string, NOW + MINUTE, NOW),
      )
      assert.equal(countTrue(first), keys.length)
      assert.equal(countTrue(again), 0)
    })

    test('collects at most `limit` expired keys and no live key', async (connection, key, expiresNatively) => {
      for (const part of ['a', 'b', 'c']) await connection(0).claim(key + part, NOW + 1, NOW)
      await connection(0).claim(`${key}live`, NOW + 2 * GRACE_MS, NOW)
      const counts = await race(4, index => connection(index).collect(1, NOW + 1 + GRACE_MS))
      assert.ok(
        counts.every(count => count === 0 || count === 1),
        `each call may collect at most 1, not ${counts.join()}`,
      )
      if (!expiresNatively) {
        await collectBatches(limit => connection(0).collect(limit, NOW + 1 + GRACE_MS), 1000)
        // At NOW, before its expiry, a key that still exists could not be claimed.
        for (const part of ['a', 'b', 'c']) {
          assert.equal(await connection(1).claim(key + part, NOW + 1, NOW), true, 'deletes expired keys')
        }
      }
      assert.equal(await connection(1).claim(`${key}live`, NOW + 3 * GRACE_MS, NOW + GRACE_MS), false)
    })
  })
}

/**
 * Fault suite of `NonceStorage`: a failing store, or one whose reply cannot be read, must throw a `Fault` and never
 * return true or false.
 */
export function nonceStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<NonceStorage>>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`NonceStorage faults on ${name}`, () => {
    test('throws a fault when the connection breaks before the store acts, and claims nothing', async (stores, key) => {
      await assert.rejects(stores.cutBefore.claim(key, NOW + MINUTE, NOW), isStoreFault)
      assert.equal(await stores.healthy.claim(key, NOW + MINUTE, NOW), true)
    })

    test('throws a fault when the connection breaks after the store acted, and the key stays claimed', async (stores, key) => {
      await assert.rejects(stores.cutAfter.claim(key, NOW + MINUTE, NOW), isStoreFault)
      assert.equal(await stores.healthy.claim(key, NOW + MINUTE, NOW), false)
    })

    test('throws a fault on a malformed reply', async (stores, key) => {
      await assert.rejects(stores.malformed.claim(key, NOW + MINUTE, NOW), isStoreFault)
    })
  })
}
