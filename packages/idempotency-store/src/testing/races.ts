import assert from 'node:assert/strict'
import { GRACE_MS } from '@gatewright/kernel'
import { race } from '@gatewright/kernel/testing'
import type { Begun } from '../storage/port.ts'
import { DAY, LEASE, MINUTE, NOW, started, type Test } from './support.ts'

/** The longest text that a key or a fingerprint may be, without its last letter. */
const LONG = 'x'.repeat(63)

/** Ends of keys that careless adapters take for each other. */
const ALIKE = ['', '-', '_', 'K', 'k', 'Kk', 'kK', '0', '00', '1e1', '10']

/** Answers that break careless adapters. */
const ANSWERS = [
  ...['', '{}', '\\', '"', "'", 'é\u0301', 'nil', '\r\n', '204 0\n\n', '\n \n', '\u0001\u001f\u007f\u2028'],
  'x'.repeat(262_144),
]

/** Who wins when many call at once. */
export function races(test: Test): void {
  const winners = (results: readonly Begun[]): number[] =>
    results.flatMap(begun => (begun.state === 'started' ? [begun.fence] : []))

  test('lets one of 50 simultaneous begins start, and the others see it running', async (at, key) => {
    const results = await race(50, index => at(index).begin(key, 'a', LEASE, NOW))
    assert.equal(winners(results).length, 1)
    assert.equal(results.filter(begun => begun.state === 'running').length, 49)
  })

  test('lets one of 50 simultaneous begins with different payloads start', async (at, key) => {
    const results = await race(50, index => at(index).begin(key, `payload-${index}`, LEASE, NOW))
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
    const won = await race(50, index =>
      at(index).end(key, fence, { state: 'done', answer: `${index}`, expiresAt: NOW + DAY }, NOW),
    )
    assert.equal(won.filter(Boolean).length, 1)
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

/** Keys, hostile answers and the collection of what has ended. */
export function hygiene(test: Test): void {
  test('keeps keys apart that differ in the case of a letter', async (at, key) => {
    const keys = ALIKE.map(end => `${key}${end}`)
    for (const state of ['started', 'running']) {
      const begun = await race(keys.length, index => at(index).begin(keys[index] as string, 'a', LEASE, NOW))
      for (const each of begun) assert.equal(each.state, state)
    }
  })

  test('tells the longest keys and fingerprints apart by their last letter', async (at, key) => {
    const long = `${key}${LONG}`.slice(0, 63)
    for (const end of ['a', 'b']) started(await at(0).begin(long + end, LONG + end, LEASE, NOW))
    for (const end of ['a', 'b']) {
      assert.equal((await at(1).begin(long + end, LONG + end, LEASE, NOW)).state, 'running')
      assert.equal((await at(1).begin(long + end, `${LONG}c`, LEASE, NOW)).state, 'reused')
    }
    const [print, other] = [LONG.slice(0, 43), `${LONG.slice(0, 42)}y`]
    started(await at(0).begin(`${key}43`, print, LEASE, NOW))
    assert.equal((await at(1).begin(`${key}43`, print, LEASE, NOW)).state, 'running')
    assert.equal((await at(1).begin(`${key}43`, other, LEASE, NOW)).state, 'reused')
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
