import assert from 'node:assert/strict'
import { DAY, LEASE, MINUTE, NOW, started, type Test } from './support.ts'

/** From begin to replay, and what may happen between. */
export function life(test: Test): void {
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

  test('lets an ending be repeated, refuses another one, and keeps the first answer', async (at, key) => {
    const fence = started(await at(0).begin(key, 'a', LEASE, NOW))
    const first = { state: 'done', answer: '"first"', expiresAt: NOW + DAY } as const
    assert.equal(await at(0).end(key, fence, first, NOW), true)
    assert.equal(await at(1).end(key, fence, first, NOW), true)
    assert.equal(await at(1).end(key, fence, { ...first, answer: '"second"' }, NOW), false)
    assert.deepEqual(await at(2).begin(key, 'a', LEASE, NOW), first)
    assert.equal(await at(0).end(key, fence, { state: 'free', expiresAt: NOW + DAY }, NOW), false)
    assert.equal(await at(0).end(key, fence, { state: 'lost' }, NOW), false)
    assert.deepEqual(await at(2).begin(key, 'a', LEASE, NOW), first)
  })
}

/** What holds just before a deadline, and exactly at it. */
export function deadlines(test: Test): void {
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

/** Who may still end a run after its lease. */
export function lateOwners(test: Test): void {
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
