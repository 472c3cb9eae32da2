import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Fault, GRACE_MS } from '@gatewright/kernel'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import type { Begun, IdempotencyStorage } from './storage/port.ts'

/** A fresh or shared store, seen through several connections. */
export interface IdempotencyStorageUnderTest {
  /** The port over separate connections to one store; one entry for an in-process store. */
  readonly connections: readonly IdempotencyStorage[]
  /** Closes what `open` opened. */
  close(): Promise<void>
}

/** Fixed for the suite: the port takes `now`, so nothing here waits. */
const NOW = 1_767_225_600_000
const MINUTE = 60_000
const DAY = 86_400_000
const LEASE = NOW + MINUTE

/** Keys that break careless adapters. All are distinct. */
const HOSTILE = [
  '',
  '\u0000',
  '\ud800',
  '\udfff',
  "'; drop table gw_idempotency; --",
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

/** Answers that break careless adapters. */
const ANSWERS = ['', '{}', '\\', '"', "'", 'é\u0301', 'nil', '\r\n', 'x'.repeat(262_144)]

/** The fence of a begin that must have started. */
function started(begun: Begun): number {
  assert.equal(begun.state, 'started')
  return (begun as { fence: number }).fence
}

type Test = (
  title: string,
  run: (at: (index: number) => IdempotencyStorage, key: string) => Promise<void>,
) => void

/**
 * The contract of `IdempotencyStorage`: run it against every adapter. `open` is called once per test and may
 * return views of one shared store, since keys are random; give it real connections where there are any.
 */
export function idempotencyStorageContract(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<IdempotencyStorageUnderTest>,
): void {
  const test: Test = (title, run) =>
    it(title, async () => {
      const { connections, close } = await open()
      try {
        await run(index => connections[index % connections.length] as IdempotencyStorage, randomUUID())
      } finally {
        await close()
      }
    })
  describe(`IdempotencyStorage on ${name}`, () => {
    life(test)
    races(test)
    deadlines(test)
    lateOwners(test)
    hygiene(test)
  })
}

function life(test: Test): void {
  test('starts a new key, shows it running, and replays its answer', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    assert.deepEqual(await at(1).begin(key, 'a', LEASE, NOW), { state: 'running' })
    const ending = { state: 'done', answer: '{"status":201}', expiresAt: NOW + DAY } as const
    assert.equal(await at(1).end(key, fence, ending, NOW), true)
    assert.deepEqual(await at(2).begin(key, 'a', LEASE, NOW + 1), ending)
  })

  test('names reuse by another fingerprint, while running, when lost and when done', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    assert.deepEqual(await at(1).begin(key, 'b', LEASE, NOW), { state: 'reused' })
    assert.deepEqual(await at(1).begin(key, 'b', LEASE + DAY, LEASE), { state: 'reused' })
    await at(0).end(key, fence, { state: 'done', answer: '{}', expiresAt: NOW + DAY }, NOW)
    assert.deepEqual(await at(1).begin(key, 'b', LEASE, NOW + 1), { state: 'reused' })
  })

  test('frees a released key at once, for any fingerprint, with a larger fence', async (at, key) => {
    const first = started(await at(0).begin(key, 'a', LEASE, NOW))
    assert.equal(await at(1).end(key, first, { state: 'free', expiresAt: NOW + DAY }, NOW), true)
    const second = started(await at(2).begin(key, 'b', LEASE, NOW))
    assert.ok(second > first, `${second} must be larger than ${first}`)
  })

  test('shows a run that was ended as lost, before its lease is over', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    assert.equal(await at(0).end(key, fence, { state: 'lost' }, NOW), true)
    assert.deepEqual(await at(1).begin(key, 'a', LEASE, NOW), { state: 'lost', fence })
  })

  test('lets an ending be repeated, and keeps the first answer', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    const first = { state: 'done', answer: '"first"', expiresAt: NOW + DAY } as const
    assert.equal(await at(0).end(key, fence, first, NOW), true)
    assert.equal(await at(1).end(key, fence, { ...first, answer: '"second"' }, NOW), true)
    assert.deepEqual(await at(2).begin(key, 'a', LEASE, NOW), first)
    assert.equal(await at(0).end(key, fence, { state: 'free', expiresAt: NOW + DAY }, NOW), false)
    assert.equal(await at(0).end(key, fence, { state: 'lost' }, NOW), false)
    assert.deepEqual(await at(2).begin(key, 'a', LEASE, NOW), first)
  })
}

function races(test: Test): void {
  const winners = (results: readonly Begun[]): number[] =>
    results.flatMap(begun => (begun.state === 'started' ? [begun.fence] : []))

  test('lets one of 50 simultaneous begins start, and the others see it running', async (at, key) => {
    const results = await race(50, index => at(index).begin(key, 'a', LEASE, NOW))
    assert.equal(winners(results).length, 1)
    assert.equal(results.filter(begun => begun.state === 'running').length, 49)
  })

  test('lets one of 50 simultaneous begins with different payloads start', async (at, key) => {
    const results = await race(50, index => at(index).begin(key, `payload ${index}`, LEASE, NOW))
    assert.equal(winners(results).length, 1)
    assert.equal(results.filter(begun => begun.state === 'reused').length, 49)
  })

  test('lets one of 50 simultaneous takeovers of an ended retention start', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    await at(0).end(key, fence, { state: 'done', answer: '{}', expiresAt: NOW + 1 }, NOW)
    const results = await race(50, index => at(index).begin(key, 'b', LEASE, NOW + 1))
    assert.equal(winners(results).length, 1)
    assert.equal(results.filter(begun => begun.state === 'running').length, 49)
  })

  test('lets one of 50 simultaneous takeovers of a freed key start', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    await at(0).end(key, fence, { state: 'free', expiresAt: NOW + DAY }, NOW)
    const results = await race(50, index => at(index).begin(key, 'a', LEASE, NOW))
    assert.equal(winners(results).length, 1)
  })

  test('starts none of 50 simultaneous begins of a lost key', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    const results = await race(50, index => at(index).begin(key, 'a', LEASE + DAY, LEASE))
    for (const begun of results) assert.deepEqual(begun, { state: 'lost', fence })
  })

  test('keeps one of 50 simultaneous answers, and every later begin reads that one', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    await race(50, index =>
      at(index).end(key, fence, { state: 'done', answer: `${index}`, expiresAt: NOW + DAY }, NOW),
    )
    const read = await race(50, index => at(index).begin(key, 'a', LEASE, NOW))
    assert.equal(new Set(read.map(begun => JSON.stringify(begun))).size, 1)
    assert.equal(read[0]?.state, 'done')
  })

  test('decides between simultaneous completion and release: one is true, the other false', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    const [done, free] = await Promise.all([
      at(0).end(key, fence, { state: 'done', answer: '{}', expiresAt: NOW + DAY }, NOW),
      at(1).end(key, fence, { state: 'free', expiresAt: NOW + DAY }, NOW),
    ])
    assert.notEqual(done, free)
    const { state } = await at(2).begin(key, 'a', LEASE, NOW)
    assert.equal(state, done ? 'done' : 'started')
  })
}

function deadlines(test: Test): void {
  test('shows a run as running until 1 ms before its lease ends, and as lost exactly at it', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    assert.deepEqual(await at(1).begin(key, 'a', LEASE + DAY, LEASE - 1), { state: 'running' })
    assert.deepEqual(await at(1).begin(key, 'a', LEASE + DAY, LEASE), { state: 'lost', fence })
  })

  test('keeps a lost run lost, however much time passes', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    await at(0).collect(1000, NOW + 400 * DAY)
    const much = NOW + 400 * DAY
    assert.deepEqual(await at(1).begin(key, 'a', much + MINUTE, much), { state: 'lost', fence })
  })

  test('replays until 1 ms before the retention ends, and starts anew exactly at it', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    const ending = { state: 'done', answer: '{}', expiresAt: NOW + DAY } as const
    await at(0).end(key, fence, ending, NOW)
    assert.deepEqual(await at(1).begin(key, 'a', NOW + DAY + MINUTE, NOW + DAY - 1), ending)
    const second = started(await at(1).begin(key, 'b', NOW + DAY + MINUTE, NOW + DAY))
    assert.ok(second > fence, 'the fence grows')
  })

  test('gives a larger fence to a begin whose clock is 60 s behind the last one', async (at, key) => {
    const first = started(await at(0).begin(key, 'a', LEASE, NOW))
    await at(0).end(key, first, { state: 'free', expiresAt: NOW + DAY }, NOW)
    const second = started(await at(1).begin(key, 'a', NOW, NOW - MINUTE))
    assert.ok(second > first, `${second} must be larger than ${first}`)
  })

  test('deletes nothing that a host 60 s behind still needs', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    const ending = { state: 'done', answer: '{}', expiresAt: NOW + MINUTE } as const
    await at(0).end(key, fence, ending, NOW)
    await at(0).collect(1000, NOW + 2 * MINUTE)
    assert.deepEqual(await at(1).begin(key, 'a', LEASE, NOW + MINUTE - 1), ending)
  })
}

function lateOwners(test: Test): void {
  const DONE = { state: 'done', answer: '"late"', expiresAt: NOW + DAY } as const

  test('accepts the owner after its lease while nobody else has decided', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    assert.equal((await at(1).begin(key, 'a', LEASE + DAY, LEASE)).state, 'lost')
    assert.equal(await at(0).end(key, fence, DONE, LEASE + 1), true)
    assert.deepEqual(await at(1).begin(key, 'a', LEASE + DAY, LEASE + 2), DONE)
  })

  test('refuses every ending by an owner that was replaced, and leaves the new run alone', async (at, key) => {
    const late = started(await at(0).begin(key, 'a', LEASE, NOW))
    await at(1).end(key, late, { state: 'free', expiresAt: LEASE + DAY }, LEASE)
    const fence = started(await at(1).begin(key, 'a', LEASE + DAY, LEASE))
    assert.equal(await at(0).end(key, late, DONE, LEASE), false)
    assert.equal(await at(0).end(key, late, { state: 'free', expiresAt: LEASE + DAY }, LEASE), false)
    assert.equal(await at(0).end(key, late, { state: 'lost' }, LEASE), false)
    assert.deepEqual(await at(0).begin(key, 'a', LEASE + DAY, LEASE), { state: 'running' })
    const answer = { ...DONE, answer: '"new"' }
    assert.equal(await at(1).end(key, fence, answer, LEASE), true)
    assert.equal(await at(0).end(key, late, DONE, LEASE), false)
    assert.deepEqual(await at(0).begin(key, 'a', LEASE + DAY, LEASE), answer)
  })

  test('refuses an ending of a key that was never begun', async (at, key) => {
    assert.equal(await at(0).end(key, NOW, DONE, NOW), false)
    assert.equal((await at(0).begin(key, 'a', LEASE, NOW)).state, 'started')
  })
}

function hygiene(test: Test): void {
  test('keeps hostile keys apart', async (at, key) => {
    const keys = HOSTILE.map(hostile => `${key}${hostile}`)
    for (const state of ['started', 'running']) {
      const begun = await race(keys.length, index => at(index).begin(keys[index] as string, 'a', LEASE, NOW))
      for (const each of begun) assert.equal(each.state, state)
    }
  })

  test('returns hostile answers byte for byte', async (at, key) => {
    await race(ANSWERS.length, async index => {
      const ending = { state: 'done', answer: ANSWERS[index] as string, expiresAt: NOW + DAY } as const
      const fence = started(await at(index).begin(`${key}${index}`, 'a', LEASE, NOW))
      await at(index).end(`${key}${index}`, fence, ending, NOW)
      assert.deepEqual(await at(index + 1).begin(`${key}${index}`, 'a', LEASE, NOW), ending)
    })
  })

  test('collects at most the given number of ended records, and no running or live one', async (at, key) => {
    for (const part of ['a', 'b', 'c']) {
      const fence = started(await at(0).begin(key + part, 'a', LEASE, NOW))
      const expiresAt = NOW + 1
      const ending = part === 'c' ? { state: 'free', expiresAt } : { state: 'done', answer: '{}', expiresAt }
      await at(0).end(key + part, fence, ending as { state: 'free'; expiresAt: number }, NOW)
    }
    const fence = started(await at(0).begin(`${key}live`, 'a', LEASE, NOW))
    const live = { state: 'done', answer: '{}', expiresAt: NOW + 2 * GRACE_MS } as const
    await at(0).end(`${key}live`, fence, live, NOW)
    const lost = started(await at(0).begin(`${key}lost`, 'a', NOW + 1, NOW))
    const later = NOW + 1 + GRACE_MS
    const counts = await race(4, index => at(index).collect(1, later))
    assert.ok(
      counts.every(count => count === 0 || count === 1),
      `each call may collect at most 1, not ${counts.join()}`,
    )
    assert.deepEqual(await at(1).begin(`${key}live`, 'a', later + MINUTE, later), live)
    assert.deepEqual(await at(1).begin(`${key}lost`, 'a', later + MINUTE, later), {
      state: 'lost',
      fence: lost,
    })
  })
}

/** An adapter whose connection to the store can be hurt, for stores that have one. */
export interface HurtIdempotencyStorage {
  readonly healthy: IdempotencyStorage
  /** The connection dies before the store sees the request. */
  readonly cutBefore: IdempotencyStorage
  /** The store acts, then the connection dies before its answer arrives. */
  readonly cutAfter: IdempotencyStorage
  /** The store's answer is not what the adapter expects. */
  readonly malformed: IdempotencyStorage
  close(): Promise<void>
}

/** The faults of `IdempotencyStorage`: a dead or nonsensical store is a `Fault`, never a yes and never a no. */
export function idempotencyStorageFaults(
  { describe, it }: TestRunner,
  name: string,
  open: () => Promise<HurtIdempotencyStorage>,
): void {
  const test = (title: string, run: (stores: HurtIdempotencyStorage, key: string) => Promise<void>) =>
    it(title, async () => {
      const stores = await open()
      try {
        await run(stores, randomUUID())
      } finally {
        await stores.close()
      }
    })
  const isFault = (error: unknown): boolean => error instanceof Fault && error.code.startsWith('ERR_STORE_')
  const DONE = { state: 'done', answer: '{}', expiresAt: NOW + DAY } as const

  describe(`IdempotencyStorage faults on ${name}`, () => {
    test('throws when cut before a begin, and the key stays new', async (stores, key) => {
      await assert.rejects(stores.cutBefore.begin(key, 'a', LEASE, NOW), isFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, NOW)).state, 'started')
    })

    test('throws when cut after a begin, and the key is running, then lost, never new', async (stores, key) => {
      await assert.rejects(stores.cutAfter.begin(key, 'a', LEASE, NOW), isFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, NOW)).state, 'running')
      assert.equal((await stores.healthy.begin(key, 'a', LEASE + DAY, LEASE)).state, 'lost')
    })

    test('throws when cut before an ending, and the run goes on', async (stores, key) => {
      const fence = started(await stores.healthy.begin(key, 'a', LEASE, NOW))
      await assert.rejects(stores.cutBefore.end(key, fence, DONE, NOW), isFault)
      assert.equal((await stores.healthy.begin(key, 'a', LEASE, NOW)).state, 'running')
    })

    test('throws when cut after an ending, which can then be repeated', async (stores, key) => {
      const fence = started(await stores.healthy.begin(key, 'a', LEASE, NOW))
      await assert.rejects(stores.cutAfter.end(key, fence, DONE, NOW), isFault)
      assert.equal(await stores.healthy.end(key, fence, DONE, NOW), true)
      assert.deepEqual(await stores.healthy.begin(key, 'a', LEASE, NOW), DONE)
    })

    test('throws on malformed replies', async (stores, key) => {
      await assert.rejects(stores.malformed.begin(key, 'a', LEASE, NOW), isFault)
      await assert.rejects(stores.malformed.begin(key, 'a', LEASE, NOW), isFault)
      const fence = started(await stores.healthy.begin(`${key}2`, 'a', LEASE, NOW))
      await assert.rejects(stores.malformed.end(`${key}2`, fence, DONE, NOW), isFault)
    })
  })
}
