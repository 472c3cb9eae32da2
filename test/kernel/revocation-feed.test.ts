import assert from 'node:assert/strict'
import {
  FEED_LANES,
  FEED_RETENTION_MS,
  FEED_START,
  memoryFeed,
  positionsAfter,
  redisFeed,
  sqlFeed,
  type FeedChange,
  type Session,
} from '@gatewright/kernel'
import { endsSession } from '@gatewright/kernel/internal'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../harness/holds.ts'

const NOW = 1_767_225_600_000
const session: Session = {
  sessionId: 'ses_1',
  accountId: 'acc_1',
  userId: null,
  walletAddress: null,
  surface: 'user',
  keyId: 'key_1',
  keyVersion: 3,
  policyIds: [],
  scopes: [],
  issuedAt: NOW,
  expiresAt: NOW + 3_600_000,
}
const change = (given: Partial<FeedChange>): FeedChange => ({ kind: 'key', id: 'key_1', at: NOW, ...given })

t.test('a key entry ends the sessions issued under a lower version, and no others', async t => {
  t.equal(endsSession(change({ version: 2 }), session, NOW), false)
  t.equal(endsSession(change({ version: 3 }), session, NOW), false)
  t.equal(endsSession(change({ version: 4 }), session, NOW), true)
  t.equal(endsSession(change({ id: 'key_2', version: 4 }), session, NOW), false)
})

t.test('a key entry without a version ends every session of the key', async t => {
  t.equal(endsSession(change({}), session, NOW), true)
})

t.test('a session entry ends that session, and not the sessions of a key with the same id', async t => {
  t.equal(endsSession(change({ kind: 'session', id: 'ses_1' }), session, NOW), true)
  t.equal(endsSession(change({ kind: 'session', id: 'key_1' }), session, NOW), false)
  t.equal(endsSession(change({ kind: 'key', id: 'ses_1' }), session, NOW), false)
})

t.test('an entry takes effect at its instant, and not a millisecond earlier', async t => {
  const entry = change({ version: 4, from: NOW + 1000 })
  t.equal(endsSession(entry, session, NOW + 999), false)
  t.equal(endsSession(entry, session, NOW + 1000), true)
})

t.test('an entry without an instant takes effect immediately, however wrong the clock is', async t => {
  for (const now of [0, NOW - 86_400_000, NOW])
    t.equal(endsSession(change({ version: 4 }), session, now), true)
})

t.test('entries are kept longer than the longest session lifetime', async t => {
  t.ok(FEED_RETENTION_MS > 86_400_000)
})

t.test('the memory feed returns each entry once, in order, in pages of any size', async t => {
  const batches = fc.array(fc.array(fc.string(), { maxLength: 4 }), { maxLength: 6 })
  await holds(
    t,
    fc.property(batches, fc.integer({ min: 1, max: 5 }), (given, limit) => {
      const feed = memoryFeed()
      for (const ids of given) feed.append(ids.map(id => change({ id })))
      const seen: string[] = []
      let positions = FEED_START
      for (let page = feed.after(positions, limit); page.length > 0; page = feed.after(positions, limit)) {
        assert.ok(page.length <= limit)
        for (const entry of page) {
          assert.ok(entry.position > (positions[0] as number))
          positions = positionsAfter(positions, [entry])
          seen.push(entry.id)
        }
      }
      assert.deepEqual(seen, given.flat())
    }),
  )
})

t.test('never reuses a position after old entries were deleted', async t => {
  const feed = memoryFeed()
  feed.append([change({ id: 'old', at: NOW }), change({ id: 'new', at: NOW + 1 })])
  feed.dropBefore(NOW + 1)
  feed.append([change({ id: 'newest', at: NOW + 2 })])
  t.same(
    feed.after(FEED_START, 10).map(({ id, position }) => [id, position]),
    [
      ['new', 2],
      ['newest', 3],
    ],
  )
})

t.test('numbers the entries of each lane, and reads each lane from its own position', async t => {
  const feed = memoryFeed()
  const append = (lane: number, ...ids: string[]): void =>
    feed.append(
      ids.map(id => change({ id })),
      lane,
    )
  const places = (positions: readonly number[], limit: number) =>
    feed.after(positions, limit).map(({ id, lane, position }) => [id, lane, position])
  append(31, 'a', 'b')
  append(4, 'c')
  append(31, 'd')
  t.same(places(FEED_START, 2), [
    ['c', 4, 1],
    ['a', 31, 1],
    ['b', 31, 2],
  ])
  const positions = positionsAfter(FEED_START, feed.after(FEED_START, 2))
  append(4, 'e')
  t.same(places(positions, 2), [
    ['e', 4, 2],
    ['d', 31, 3],
  ])
})

t.test('the positions of a reader never go back', async t => {
  const at = (lane: number, position: number) => ({ ...change({}), lane, position })
  const positions = positionsAfter(FEED_START, [at(2, 9), at(0, 1), at(2, 8)])
  t.same(positions.slice(0, 3), [1, 0, 9])
  t.same(positionsAfter(positions, [at(2, 3)]), positions)
  t.ok(FEED_START.every(position => position === 0))
})

t.test('calls the listener after each append with entries, until the subscription ends', async t => {
  const feed = memoryFeed()
  let seen = 0
  const end = feed.subscribe(() => {
    seen = feed.after(FEED_START, 10).length
  })
  feed.append([])
  t.equal(seen, 0)
  feed.append([change({}), change({})])
  t.equal(seen, 2)
  end()
  feed.append([change({})])
  t.equal(seen, 2)
})

t.test('derives the same names for issuer and guard from the same prefix', async t => {
  t.same(sqlFeed(), { table: 'gw_feed', channel: 'gw_feed' })
  t.same(sqlFeed('x_'), { table: 'x_feed', channel: 'x_feed' })
  t.throws(() => sqlFeed('x; drop table'), TypeError)
  t.throws(() => redisFeed('{gw}:'), { name: 'TypeError', message: /no braces/ })
  const { streams, channel } = redisFeed()
  t.equal(streams.length, FEED_LANES)
  t.same([streams[0], streams[31], channel], ['{gw:0}:feed', '{gw:31}:feed', 'gw:feed'])
})
