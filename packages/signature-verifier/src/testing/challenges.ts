import assert from 'node:assert/strict'
import { collectBatches, GRACE_MS } from '@gatewright/kernel'
import { type FaultyStorage, race, type TestRunner } from '@gatewright/kernel/testing'
import { connectionTests, isStoreFault, openedTests } from '@gatewright/kernel/internal/testing'
import type { ChallengeStorage } from '../storage/port.ts'
import { countTrue, HOSTILE_KEYS, MINUTE, NOW, type NoncesUnderTest } from './storage-under-test.ts'

/**
 * Contract suite of the challenge methods of `ChallengeStorage`. Run `nonceStorageContract` as well. `open` is called
 * once per test and may return views of one shared store, because keys are random.
 */
export function challengeStorageContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<NoncesUnderTest<ChallengeStorage>>,
): void {
  const test = connectionTests(runner, open)

  runner.describe(`ChallengeStorage on ${name}`, () => {
    test('lets an issued challenge be consumed once', async (connection, key) => {
      assert.equal(await connection(0).issue(key, NOW + MINUTE, NOW), true)
      assert.equal(await connection(1).consume(key, NOW), true)
      assert.equal(await connection(0).consume(key, NOW), false)
    })

    test('rejects a challenge that was never issued', async (connection, key) => {
      assert.equal(await connection(0).consume(key, NOW), false)
      assert.equal(
        await connection(0).issue(key, NOW + MINUTE, NOW),
        true,
        'rejecting it must leave its key free',
      )
      assert.equal(await connection(1).consume(key, NOW), true)
    })

    test('lets one of 50 simultaneous consumers win', async (connection, key) => {
      await connection(0).issue(key, NOW + MINUTE, NOW)
      assert.equal(countTrue(await race(50, index => connection(index).consume(key, NOW))), 1)
    })

    test('lets one of 50 simultaneous issuers of a key win', async (connection, key) => {
      assert.equal(countTrue(await race(50, index => connection(index).issue(key, NOW + MINUTE, NOW))), 1)
    })

    test('accepts a challenge until 1 ms before its expiry and rejects it at the expiry', async (connection, key) => {
      await connection(0).issue(`${key}a`, NOW + MINUTE, NOW)
      await connection(0).issue(`${key}b`, NOW + MINUTE, NOW)
      assert.equal(await connection(1).consume(`${key}a`, NOW + MINUTE - 1), true)
      assert.equal(await connection(1).consume(`${key}b`, NOW + MINUTE), false)
    })

    test('keeps the expiry when a second issue of the key is rejected', async (connection, key) => {
      await connection(0).issue(key, NOW + MINUTE, NOW)
      assert.equal(await connection(1).issue(key, NOW + 9 * MINUTE, NOW), false)
      assert.equal(await connection(1).consume(key, NOW + MINUTE), false)
    })

    test('keeps challenges and nonces apart', async (connection, key) => {
      await connection(0).issue(key, NOW + MINUTE, NOW)
      assert.equal(await connection(1).claim(key, NOW + MINUTE, NOW), true)
      assert.equal(await connection(1).consume(key, NOW), true)
      assert.equal(await connection(0).claim(key, NOW + MINUTE, NOW), false)
    })

    test('keeps keys apart that differ in case, spaces, control characters or length', async (connection, key) => {
      const keys = HOSTILE_KEYS.map(hostile => key + hostile)
      for (const each of keys) assert.equal(await connection(0).issue(each, NOW + MINUTE, NOW), true)
      for (const each of keys) assert.equal(await connection(1).consume(each, NOW), true)
    })

    test('collects expired challenges, but none that is live or that a host 60 s behind still needs', async (connection, key, expiresNatively) => {
      await connection(0).issue(key, NOW + MINUTE, NOW)
      await connection(0).issue(`${key}ended`, NOW + MINUTE, NOW)
      await connection(0).issue(`${key}live`, NOW + 2 * GRACE_MS, NOW)
      await connection(0).collect(1000, NOW + MINUTE + MINUTE)
      assert.equal(await connection(1).consume(key, NOW + MINUTE - 1), true)
      await collectBatches(limit => connection(0).collect(limit, NOW + GRACE_MS + MINUTE), 1000)
      // At NOW, before its expiry, a challenge that still exists could be consumed.
      if (!expiresNatively) assert.equal(await connection(1).consume(`${key}ended`, NOW), false)
      assert.equal(await connection(1).consume(`${key}live`, NOW + GRACE_MS + MINUTE), true)
    })
  })
}

/**
 * Fault suite of the challenge methods: a failing store, or one whose reply cannot be read, must throw a `Fault` and
 * never return true or false.
 */
export function challengeStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyStorage<ChallengeStorage>>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`ChallengeStorage faults on ${name}`, () => {
    test('throws a fault when the connection breaks before the store acts, and consumes nothing', async (stores, key) => {
      await stores.healthy.issue(key, NOW + MINUTE, NOW)
      await assert.rejects(stores.cutBefore.consume(key, NOW), isStoreFault)
      assert.equal(await stores.healthy.consume(key, NOW), true)
    })

    test('throws a fault when the connection breaks after the store acted, and the challenge is consumed', async (stores, key) => {
      await stores.healthy.issue(key, NOW + MINUTE, NOW)
      await assert.rejects(stores.cutAfter.consume(key, NOW), isStoreFault)
      assert.equal(await stores.healthy.consume(key, NOW), false)
    })

    test('throws a fault on a malformed reply', async (stores, key) => {
      await stores.healthy.issue(key, NOW + MINUTE, NOW)
      await assert.rejects(stores.malformed.consume(key, NOW), isStoreFault)
    })

    test('throws a fault when the connection breaks during issue', async (stores, key) => {
      await assert.rejects(stores.cutBefore.issue(key, NOW + MINUTE, NOW), isStoreFault)
      assert.equal(await stores.healthy.consume(key, NOW), false)
    })
  })
}
