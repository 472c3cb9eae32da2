import assert from 'node:assert/strict'
import { race } from '@gatewright/kernel/testing'
import { DAY, LEASE, MINUTE, NOW, started, type DefineTest } from './support.ts'

/** Defines the tests of extended leases. */
export function leases(test: DefineTest): void {
  const LATER = LEASE + MINUTE

  test('extends the lease of a running run until 1 ms before its end, and not at its end', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    assert.equal(await connection(1).extend(key, fence, LATER, LEASE - 1), true)
    assert.deepEqual(await connection(0).begin(key, 'a', LATER, LATER - 1), { state: 'running' })
    assert.equal(await connection(1).extend(key, fence, LATER + DAY, LATER), false)
    assert.deepEqual(await connection(0).begin(key, 'a', LATER, LATER), { state: 'lost', fence })
  })

  test('accepts a repeated extension, and never shortens a lease', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    for (const until of [LATER, LATER, LEASE]) {
      assert.equal(await connection(1).extend(key, fence, until, NOW), true)
    }
    assert.deepEqual(await connection(0).begin(key, 'a', LATER, LATER - 1), { state: 'running' })
  })

  test('extends no lease of another run, of one that has ended, or of one that was ended as lost', async (connection, key) => {
    assert.equal(await connection(0).extend(key, NOW, LATER, NOW), false)
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    assert.equal(await connection(0).extend(key, fence + 1, LATER, NOW), false)
    assert.equal(await connection(0).extend(key, fence - 1, LATER, NOW), false)
    await connection(0).end(key, fence, { state: 'lost' }, NOW)
    assert.equal(await connection(1).extend(key, fence, LATER, NOW), false)
    const ending = { state: 'done', response: '{}', expiresAt: NOW + MINUTE } as const
    await connection(0).end(key, fence, ending, NOW)
    assert.equal(await connection(1).extend(key, fence, LATER, NOW), false)
    assert.deepEqual(await connection(0).begin(key, 'a', LEASE, NOW), ending)
  })

  test('of simultaneous extensions and endings of a run, no extension undoes the ending', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    const ending = { state: 'done', response: '{}', expiresAt: NOW + DAY } as const
    const results = await race(20, index =>
      index === 10
        ? connection(index).end(key, fence, ending, NOW)
        : connection(index).extend(key, fence, LATER + index, NOW),
    )
    assert.equal(results[10], true)
    assert.deepEqual(await connection(1).begin(key, 'a', LEASE, NOW), ending)
  })

  test('keeps the fingerprint, the label and the begin of an extended run', async (connection, key) => {
    const label = { operation: 'payments.create', account: key }
    const fence = started(await connection(0).begin(key, 'a'.repeat(43), LEASE, NOW, label))
    await connection(1).extend(key, fence, LATER, NOW)
    assert.deepEqual(await connection(2).find(key), {
      key,
      fingerprint: 'a'.repeat(43),
      fence,
      ...label,
      beganAt: NOW,
      state: 'running',
      until: LATER,
      decision: null,
    })
  })
}
