import assert from 'node:assert/strict'
import { DAY, LEASE, MINUTE, NOW, started, type DefineTest } from './support.ts'

/** Defines the tests of the states of a key from begin to replay. */
export function lifecycle(test: DefineTest): void {
  test('starts a new key, reports it as running, and replays its response', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    assert.deepEqual(await connection(1).begin(key, 'a', LEASE, NOW), { state: 'running' })
    const ending = { state: 'done', response: '{"status":201}', expiresAt: NOW + DAY } as const
    assert.equal(await connection(1).end(key, fence, ending, NOW), true)
    assert.deepEqual(await connection(2).begin(key, 'a', LEASE, NOW + 1), ending)
  })

  test('reports another fingerprint as reuse while the key is running, lost and done', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    assert.deepEqual(await connection(1).begin(key, 'b', LEASE, NOW), { state: 'reused' })
    assert.deepEqual(await connection(1).begin(key, 'b', LEASE + DAY, LEASE), { state: 'reused' })
    await connection(0).end(key, fence, { state: 'done', response: '{}', expiresAt: NOW + DAY }, NOW)
    assert.deepEqual(await connection(1).begin(key, 'b', LEASE, NOW + 1), { state: 'reused' })
  })

  test('starts a freed key again immediately, for any fingerprint, with a larger fence', async (connection, key) => {
    const first = started(await connection(0).begin(key, 'a', LEASE, NOW))
    assert.equal(await connection(1).end(key, first, { state: 'free', expiresAt: NOW + DAY }, NOW), true)
    const second = started(await connection(2).begin(key, 'b', LEASE, NOW))
    assert.ok(second > first, `${second} must be larger than ${first}`)
  })

  test('reports a run that was ended as lost before its lease is over', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    assert.equal(await connection(0).end(key, fence, { state: 'lost' }, NOW), true)
    assert.deepEqual(await connection(1).begin(key, 'a', LEASE, NOW), { state: 'lost', fence })
  })

  test('accepts a repeated ending, refuses a different one, and keeps the first response', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    const first = { state: 'done', response: '"first"', expiresAt: NOW + DAY } as const
    assert.equal(await connection(0).end(key, fence, first, NOW), true)
    assert.equal(await connection(1).end(key, fence, first, NOW), true)
    assert.equal(await connection(1).end(key, fence, { ...first, response: '"second"' }, NOW), false)
    assert.deepEqual(await connection(2).begin(key, 'a', LEASE, NOW), first)
    assert.equal(await connection(0).end(key, fence, { state: 'free', expiresAt: NOW + DAY }, NOW), false)
    assert.equal(await connection(0).end(key, fence, { state: 'lost' }, NOW), false)
    assert.deepEqual(await connection(2).begin(key, 'a', LEASE, NOW), first)
  })
}

/** Defines the tests of the states just before a deadline and exactly at it. */
export function deadlines(test: DefineTest): void {
  test('reports a run as running until 1 ms before its lease ends, and as lost exactly at its end', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    assert.deepEqual(await connection(1).begin(key, 'a', LEASE + DAY, LEASE - 1), { state: 'running' })
    assert.deepEqual(await connection(1).begin(key, 'a', LEASE + DAY, LEASE), { state: 'lost', fence })
  })

  test('keeps a lost run lost, however much time passes', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    await connection(0).collect(1000, NOW + 400 * DAY)
    const much = NOW + 400 * DAY
    assert.deepEqual(await connection(1).begin(key, 'a', much + MINUTE, much), { state: 'lost', fence })
  })

  test('replays until 1 ms before the retention ends, and starts again exactly at its end', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    const ending = { state: 'done', response: '{}', expiresAt: NOW + DAY } as const
    await connection(0).end(key, fence, ending, NOW)
    assert.deepEqual(await connection(1).begin(key, 'a', NOW + DAY + MINUTE, NOW + DAY - 1), ending)
    const second = started(await connection(1).begin(key, 'b', NOW + DAY + MINUTE, NOW + DAY))
    assert.ok(second > fence, 'the fence grows')
  })

  test('gives a larger fence to a begin whose clock is 60 s behind', async (connection, key) => {
    const first = started(await connection(0).begin(key, 'a', LEASE, NOW))
    await connection(0).end(key, first, { state: 'free', expiresAt: NOW + DAY }, NOW)
    const second = started(await connection(1).begin(key, 'a', NOW, NOW - MINUTE))
    assert.ok(second > first, `${second} must be larger than ${first}`)
  })

  test('deletes nothing that a host with a clock 60 s behind still needs', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    const ending = { state: 'done', response: '{}', expiresAt: NOW + MINUTE } as const
    await connection(0).end(key, fence, ending, NOW)
    await connection(0).collect(1000, NOW + 2 * MINUTE)
    assert.deepEqual(await connection(1).begin(key, 'a', LEASE, NOW + MINUTE - 1), ending)
  })
}

/** Defines the tests of who may still end a run after its lease has ended. */
export function lateOwners(test: DefineTest): void {
  const DONE = { state: 'done', response: '"late"', expiresAt: NOW + DAY } as const

  test('accepts the ending of an owner after its lease if no other caller has decided', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    assert.equal((await connection(1).begin(key, 'a', LEASE + DAY, LEASE)).state, 'lost')
    assert.equal(await connection(0).end(key, fence, DONE, LEASE + 1), true)
    assert.deepEqual(await connection(1).begin(key, 'a', LEASE + DAY, LEASE + 2), DONE)
  })

  test('refuses every ending by an owner whose key was started again, and keeps the new run', async (connection, key) => {
    const late = started(await connection(0).begin(key, 'a', LEASE, NOW))
    await connection(1).end(key, late, { state: 'free', expiresAt: LEASE + DAY }, LEASE)
    const fence = started(await connection(1).begin(key, 'a', LEASE + DAY, LEASE))
    assert.equal(await connection(0).end(key, late, DONE, LEASE), false)
    assert.equal(await connection(0).end(key, late, { state: 'free', expiresAt: LEASE + DAY }, LEASE), false)
    assert.equal(await connection(0).end(key, late, { state: 'lost' }, LEASE), false)
    assert.deepEqual(await connection(0).begin(key, 'a', LEASE + DAY, LEASE), { state: 'running' })
    const response = { ...DONE, response: '"new"' }
    assert.equal(await connection(1).end(key, fence, response, LEASE), true)
    assert.equal(await connection(0).end(key, late, DONE, LEASE), false)
    assert.deepEqual(await connection(0).begin(key, 'a', LEASE + DAY, LEASE), response)
  })

  test('refuses an ending of a key that was never begun', async (connection, key) => {
    assert.equal(await connection(0).end(key, NOW, DONE, NOW), false)
    assert.equal((await connection(0).begin(key, 'a', LEASE, NOW)).state, 'started')
  })
}
