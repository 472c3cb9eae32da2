import assert from 'node:assert/strict'
import { collectBatches, GRACE_MS } from '@gatewright/kernel'
import { race } from '@gatewright/kernel/testing'
import type { BeginResult } from '../storage/port.ts'
import { DAY, LEASE, MINUTE, NOW, started, type DefineTest } from './support.ts'

/** The longest possible key or fingerprint without its last letter. */
const LONG = 'x'.repeat(63)

/** Ends of keys that an adapter could confuse. */
const SIMILAR_ENDS = ['', '-', '_', 'K', 'k', 'Kk', 'kK', '0', '00', '1e1', '10']

/** Responses that an adapter could change. */
const RESPONSES = [
  '',
  '{}',
  '\\',
  '"',
  "'",
  'é\u0301',
  'nil',
  '\r\n',
  '204 0\n\n',
  '\n \n',
  '\u0001\u001f\u007f\u2028',
  'x'.repeat(262_144),
]

/** Defines the tests of simultaneous calls: which of them takes effect. */
export function races(test: DefineTest): void {
  const winners = (results: readonly BeginResult[]): number[] =>
    results.flatMap(begun => (begun.state === 'started' ? [begun.fence] : []))

  test('starts one of 50 simultaneous begins, and reports it as running to the others', async (connection, key) => {
    const results = await race(50, index => connection(index).begin(key, 'a', LEASE, NOW))
    assert.equal(winners(results).length, 1)
    assert.equal(results.filter(begun => begun.state === 'running').length, 49)
  })

  test('starts one of 50 simultaneous begins with different fingerprints', async (connection, key) => {
    const results = await race(50, index => connection(index).begin(key, `payload-${index}`, LEASE, NOW))
    assert.equal(winners(results).length, 1)
    assert.equal(results.filter(begun => begun.state === 'reused').length, 49)
  })

  test('starts one of 50 simultaneous begins of a key whose retention has ended', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    await connection(0).end(key, fence, { state: 'done', response: '{}', expiresAt: NOW + 1 }, NOW)
    const results = await race(50, index => connection(index).begin(key, 'b', LEASE, NOW + 1))
    assert.equal(winners(results).length, 1)
    assert.equal(results.filter(begun => begun.state === 'running').length, 49)
  })

  test('starts one of 50 simultaneous begins of a freed key', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    await connection(0).end(key, fence, { state: 'free', expiresAt: NOW + DAY }, NOW)
    const results = await race(50, index => connection(index).begin(key, 'a', LEASE, NOW))
    assert.equal(winners(results).length, 1)
  })

  test('starts none of 50 simultaneous begins of a lost key', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    const results = await race(50, index => connection(index).begin(key, 'a', LEASE + DAY, LEASE))
    for (const begun of results) assert.deepEqual(begun, { state: 'lost', fence })
  })

  test('keeps one of 50 simultaneous responses, and returns it to every later begin', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    const won = await race(50, index =>
      connection(index).end(key, fence, { state: 'done', response: `${index}`, expiresAt: NOW + DAY }, NOW),
    )
    assert.equal(won.filter(Boolean).length, 1)
    const read = await race(50, index => connection(index).begin(key, 'a', LEASE, NOW))
    assert.equal(new Set(read.map(begun => JSON.stringify(begun))).size, 1)
    assert.equal(read[0]?.state, 'done')
  })

  test('accepts one of a simultaneous completion and release, and refuses the other', async (connection, key) => {
    const fence = started(await connection(0).begin(key, 'a', LEASE, NOW))
    const [done, free] = await Promise.all([
      connection(0).end(key, fence, { state: 'done', response: '{}', expiresAt: NOW + DAY }, NOW),
      connection(1).end(key, fence, { state: 'free', expiresAt: NOW + DAY }, NOW),
    ])
    assert.notEqual(done, free)
    const { state } = await connection(2).begin(key, 'a', LEASE, NOW)
    assert.equal(state, done ? 'done' : 'started')
  })
}

/** Defines the tests of keys, fingerprints and responses that an adapter could confuse or change. */
export function texts(test: DefineTest): void {
  test('distinguishes keys that differ in the case of a letter', async (connection, key) => {
    const keys = SIMILAR_ENDS.map(end => `${key}${end}`)
    for (const state of ['started', 'running']) {
      const begun = await race(keys.length, index =>
        connection(index).begin(keys[index] as string, 'a', LEASE, NOW),
      )
      for (const each of begun) assert.equal(each.state, state)
    }
  })

  test('distinguishes the longest keys and fingerprints by their last letter', async (connection, key) => {
    const long = `${key}${LONG}`.slice(0, 63)
    for (const end of ['a', 'b']) started(await connection(0).begin(long + end, LONG + end, LEASE, NOW))
    for (const end of ['a', 'b']) {
      assert.equal((await connection(1).begin(long + end, LONG + end, LEASE, NOW)).state, 'running')
      assert.equal((await connection(1).begin(long + end, `${LONG}c`, LEASE, NOW)).state, 'reused')
    }
    const [print, other] = [LONG.slice(0, 43), `${LONG.slice(0, 42)}y`]
    started(await connection(0).begin(`${key}43`, print, LEASE, NOW))
    assert.equal((await connection(1).begin(`${key}43`, print, LEASE, NOW)).state, 'running')
    assert.equal((await connection(1).begin(`${key}43`, other, LEASE, NOW)).state, 'reused')
  })

  test('returns responses byte for byte', async (connection, key) => {
    await race(RESPONSES.length, async index => {
      const ending = { state: 'done', response: RESPONSES[index] as string, expiresAt: NOW + DAY } as const
      const fence = started(await connection(index).begin(`${key}${index}`, 'a', LEASE, NOW))
      await connection(index).end(`${key}${index}`, fence, ending, NOW)
      assert.deepEqual(await connection(index + 1).begin(`${key}${index}`, 'a', LEASE, NOW), ending)
    })
  })
}

/** Defines the tests of the deletion of expired records. */
export function collecting(test: DefineTest): void {
  test('collects at most the given number of expired records, and no running, lost or unexpired one', async (connection, key, expiresNatively) => {
    for (const part of ['a', 'b', 'c']) {
      const fence = started(await connection(0).begin(key + part, 'a', LEASE, NOW))
      const expiresAt = NOW + 1
      const ending =
        part === 'c' ? { state: 'free', expiresAt } : { state: 'done', response: '{}', expiresAt }
      await connection(0).end(key + part, fence, ending as { state: 'free'; expiresAt: number }, NOW)
    }
    const fence = started(await connection(0).begin(`${key}live`, 'a', LEASE, NOW))
    const live = { state: 'done', response: '{}', expiresAt: NOW + 2 * GRACE_MS } as const
    await connection(0).end(`${key}live`, fence, live, NOW)
    const lost = started(await connection(0).begin(`${key}lost`, 'a', NOW + 1, NOW))
    const later = NOW + 1 + GRACE_MS
    const counts = await race(4, index => connection(index).collect(1, later))
    assert.ok(
      counts.every(count => count === 0 || count === 1),
      `each call may collect at most 1, not ${counts.join()}`,
    )
    if (!expiresNatively) {
      await collectBatches(limit => connection(0).collect(limit, later), 1000)
      // At NOW, before its expiry, a record that still exists would be found.
      for (const part of ['a', 'b', 'c']) started(await connection(1).begin(key + part, 'b', LEASE, NOW))
    }
    assert.deepEqual(await connection(1).begin(`${key}live`, 'a', later + MINUTE, later), live)
    assert.deepEqual(await connection(1).begin(`${key}lost`, 'a', later + MINUTE, later), {
      state: 'lost',
      fence: lost,
    })
  })
}
