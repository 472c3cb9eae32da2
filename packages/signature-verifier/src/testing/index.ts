import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { GRACE_MS } from '@gatewright/kernel'
import {
  type FaultyStorage,
  isStoreFault,
  openedTests,
  race,
  type TestRunner,
} from '@gatewright/kernel/testing'
import type { NonceStorage } from '../storage/port.ts'

/** A fresh or shared store, seen through several connections. */
export interface NonceStorageUnderTest {
  /** The port over separate connections to one store; one entry for an in-process store. */
  readonly connections: readonly NonceStorage[]
  /** Closes what `open` opened. */
  close(): Promise<void>
}

/** Fixed for the suite: the port takes `now`, so nothing here waits. */
const NOW = 1_767_225_600_000
const MINUTE = 60_000

/** Keys that break careless adapters. All are distinct. */
const HOSTILE = [
  '',
  '\u0000',
  '\ud800',
  '\udfff',
  "'; drop table gw_nonces; --",
  '{tag}:*',
  'line\r\nbreak',
  'é',
  'e\u0301',
  'K',
  'k',
  ' k',
  'x'.repeat(65_536),
  `${'x'.repeat(65_535)}y`,
]

/**
 * The contract of `NonceStorage`: run it against every adapter. `open` is called once per test and may return
 * views of one shared store, since keys are random; give it at least two real connections where there are any.
 */
export function nonceStorageContract(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<NonceStorageUnderTest>,
): void {
  const test = (title: string, run: (at: (index: number) => NonceStorage, key: string) => Promise<void>) =>
    it(title, async () => {
      const { connections, close } = await open()
      try {
        await run(index => connections[index % connections.length] as NonceStorage, randomUUID())
      } finally {
        await close()
      }
    })
  const wins = (results: readonly boolean[]): number => results.filter(won => won).length

  describe(`NonceStorage on ${name}`, () => {
    test('grants a key once and refuses it while it is live', async (at, key) => {
      assert.equal(await at(0).claim(key, NOW + MINUTE, NOW), true)
      assert.equal(await at(1).claim(key, NOW + MINUTE, NOW), false)
      assert.equal(await at(0).claim(key, NOW + 9 * MINUTE, NOW + 1), false)
    })

    test('lets one of 50 simultaneous claims win', async (at, key) => {
      const results = await race(50, index => at(index).claim(key, NOW + MINUTE, NOW))
      assert.equal(wins(results), 1)
    })

    test('lets one of 50 simultaneous takeovers of an ended key win', async (at, key) => {
      await at(0).claim(key, NOW + 1, NOW)
      const results = await race(50, index => at(index).claim(key, NOW + MINUTE, NOW + 1))
      assert.equal(wins(results), 1)
    })

    test('holds a key until 1 ms before its expiry and frees it exactly at it', async (at, key) => {
      await at(0).claim(key, NOW + MINUTE, NOW)
      assert.equal(await at(1).claim(key, NOW + 2 * MINUTE, NOW + MINUTE - 1), false)
      assert.equal(await at(1).claim(key, NOW + 2 * MINUTE, NOW + MINUTE), true)
    })

    test('does not shorten a live key when a claim of it is refused', async (at, key) => {
      await at(0).claim(key, NOW + 5 * MINUTE, NOW)
      await at(1).claim(key, NOW + MINUTE, NOW)
      assert.equal(await at(1).claim(key, NOW + 9 * MINUTE, NOW + 5 * MINUTE - 1), false)
    })

    test('deletes nothing that a host 60 s behind still needs', async (at, key) => {
      await at(0).claim(key, NOW + MINUTE, NOW)
      const fast = NOW + 2 * MINUTE
      await at(0).collect(1000, fast)
      assert.equal(await at(1).claim(key, NOW + 9 * MINUTE, fast - MINUTE - 1), false)
    })

    test('keeps hostile keys apart', async (at, key) => {
      const keys = HOSTILE.map(hostile => `${key}${hostile}`)
      const first = await race(keys.length, index =>
        at(index).claim(keys[index] as string, NOW + MINUTE, NOW),
      )
      const again = await race(keys.length, index =>
        at(index + 1).claim(keys[index] as string, NOW + MINUTE, NOW),
      )
      assert.equal(wins(first), keys.length)
      assert.equal(wins(again), 0)
    })

    test('collects at most the given number of ended keys and no live one', async (at, key) => {
      for (const part of ['a', 'b', 'c']) await at(0).claim(key + part, NOW + 1, NOW)
      await at(0).claim(`${key}live`, NOW + 2 * GRACE_MS, NOW)
      const counts = await race(4, index => at(index).collect(1, NOW + 1 + GRACE_MS))
      assert.ok(
        counts.every(count => count === 0 || count === 1),
        `each call may collect at most 1, not ${counts.join()}`,
      )
      assert.equal(await at(1).claim(`${key}live`, NOW + 3 * GRACE_MS, NOW + GRACE_MS), false)
    })
  })
}

/** An adapter whose connection to the store can be hurt, for stores that have one. */
export type FaultyNonceStorage = FaultyStorage<NonceStorage>

/** The faults of `NonceStorage`: a dead or nonsensical store is a `Fault`, never a yes and never a no. */
export function nonceStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyNonceStorage>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`NonceStorage faults on ${name}`, () => {
    test('throws a fault when cut before the store acts, and nothing is claimed', async (stores, key) => {
      await assert.rejects(stores.cutBefore.claim(key, NOW + MINUTE, NOW), isStoreFault)
      assert.equal(await stores.healthy.claim(key, NOW + MINUTE, NOW), true)
    })

    test('throws a fault when cut after the store acted, and the key stays claimed', async (stores, key) => {
      await assert.rejects(stores.cutAfter.claim(key, NOW + MINUTE, NOW), isStoreFault)
      assert.equal(await stores.healthy.claim(key, NOW + MINUTE, NOW), false)
    })

    test('throws a fault on a malformed reply', async (stores, key) => {
      await assert.rejects(stores.malformed.claim(key, NOW + MINUTE, NOW), isStoreFault)
    })
  })
}

export { challengeStorageContract, challengeStorageFaults } from './challenges.ts'
export type { ChallengeStorageUnderTest, FaultyChallengeStorage } from './challenges.ts'
