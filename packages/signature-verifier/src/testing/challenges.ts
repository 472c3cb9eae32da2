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
import type { ChallengeStorage } from '../storage/port.ts'

/** A fresh or shared store, seen through several connections. */
export interface ChallengeStorageUnderTest {
  /** The port over separate connections to one store; one entry for an in-process store. */
  readonly connections: readonly ChallengeStorage[]
  /** Closes what `open` opened. */
  close(): Promise<void>
}

const NOW = 1_767_225_600_000
const MINUTE = 60_000
const HOSTILE = [
  '',
  '\u0000',
  '\ud800',
  "'; drop table gw_challenges; --",
  '{tag}:*',
  'é',
  'e\u0301',
  'K',
  'k',
]

/**
 * The contract of the challenge half of `ChallengeStorage`, to be run besides `nonceStorageContract`. `open` is
 * called once per test and may return views of one shared store, since keys are random.
 */
export function challengeStorageContract(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<ChallengeStorageUnderTest>,
): void {
  const test = (
    title: string,
    run: (at: (index: number) => ChallengeStorage, key: string) => Promise<void>,
  ): void =>
    it(title, async () => {
      const { connections, close } = await open()
      try {
        await run(index => connections[index % connections.length] as ChallengeStorage, randomUUID())
      } finally {
        await close()
      }
    })
  const wins = (results: readonly boolean[]): number => results.filter(won => won).length

  describe(`ChallengeStorage on ${name}`, () => {
    test('lets an issued challenge be consumed once', async (at, key) => {
      assert.equal(await at(0).issue(key, NOW + MINUTE, NOW), true)
      assert.equal(await at(1).consume(key, NOW), true)
      assert.equal(await at(0).consume(key, NOW), false)
    })

    test('refuses a challenge that was never issued', async (at, key) => {
      assert.equal(await at(0).consume(key, NOW), false)
      assert.equal(await at(0).issue(key, NOW + MINUTE, NOW), true, 'and does not use its key up')
      assert.equal(await at(1).consume(key, NOW), true)
    })

    test('lets one of 50 simultaneous consumers win', async (at, key) => {
      await at(0).issue(key, NOW + MINUTE, NOW)
      assert.equal(wins(await race(50, index => at(index).consume(key, NOW))), 1)
    })

    test('lets one of 50 simultaneous issuers of a key win', async (at, key) => {
      assert.equal(wins(await race(50, index => at(index).issue(key, NOW + MINUTE, NOW))), 1)
    })

    test('holds a challenge until 1 ms before its expiry and refuses it exactly at it', async (at, key) => {
      await at(0).issue(`${key}a`, NOW + MINUTE, NOW)
      await at(0).issue(`${key}b`, NOW + MINUTE, NOW)
      assert.equal(await at(1).consume(`${key}a`, NOW + MINUTE - 1), true)
      assert.equal(await at(1).consume(`${key}b`, NOW + MINUTE), false)
    })

    test('does not move the expiry when issuing again is refused', async (at, key) => {
      await at(0).issue(key, NOW + MINUTE, NOW)
      assert.equal(await at(1).issue(key, NOW + 9 * MINUTE, NOW), false)
      assert.equal(await at(1).consume(key, NOW + MINUTE), false)
    })

    test('keeps challenges and nonces apart', async (at, key) => {
      await at(0).issue(key, NOW + MINUTE, NOW)
      assert.equal(await at(1).claim(key, NOW + MINUTE, NOW), true)
      assert.equal(await at(1).consume(key, NOW), true)
      assert.equal(await at(0).claim(key, NOW + MINUTE, NOW), false)
    })

    test('keeps hostile keys apart', async (at, key) => {
      const keys = HOSTILE.map(hostile => key + hostile)
      for (const each of keys) assert.equal(await at(0).issue(each, NOW + MINUTE, NOW), true)
      for (const each of keys) assert.equal(await at(1).consume(each, NOW), true)
    })

    test('collects nothing that a host 60 s behind still needs, and no live challenge', async (at, key) => {
      await at(0).issue(key, NOW + MINUTE, NOW)
      await at(0).issue(`${key}live`, NOW + 2 * GRACE_MS, NOW)
      await at(0).collect(1000, NOW + MINUTE + MINUTE)
      assert.equal(await at(1).consume(key, NOW + MINUTE - 1), true)
      await at(0).collect(1000, NOW + GRACE_MS + MINUTE)
      assert.equal(await at(1).consume(`${key}live`, NOW + GRACE_MS + MINUTE), true)
    })
  })
}

/** An adapter whose connection to the store can be hurt, for stores that have one. */
export type FaultyChallengeStorage = FaultyStorage<ChallengeStorage>

/** The faults of challenges: a dead or nonsensical store is a `Fault`, never a yes and never a no. */
export function challengeStorageFaults(
  runner: TestRunner,
  name: string,
  open: () => Promise<FaultyChallengeStorage>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`ChallengeStorage faults on ${name}`, () => {
    test('throws a fault when cut before the store acts, and nothing is used up', async (stores, key) => {
      await stores.healthy.issue(key, NOW + MINUTE, NOW)
      await assert.rejects(stores.cutBefore.consume(key, NOW), isStoreFault)
      assert.equal(await stores.healthy.consume(key, NOW), true)
    })

    test('throws a fault when cut after the store acted, and the challenge is used up', async (stores, key) => {
      await stores.healthy.issue(key, NOW + MINUTE, NOW)
      await assert.rejects(stores.cutAfter.consume(key, NOW), isStoreFault)
      assert.equal(await stores.healthy.consume(key, NOW), false)
    })

    test('throws a fault on a malformed reply', async (stores, key) => {
      await stores.healthy.issue(key, NOW + MINUTE, NOW)
      await assert.rejects(stores.malformed.consume(key, NOW), isStoreFault)
    })

    test('throws a fault when issuing is cut off', async (stores, key) => {
      await assert.rejects(stores.cutBefore.issue(key, NOW + MINUTE, NOW), isStoreFault)
      assert.equal(await stores.healthy.consume(key, NOW), false)
    })
  })
}
