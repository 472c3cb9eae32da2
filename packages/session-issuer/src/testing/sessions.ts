import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { collectBatches, FEED_RETENTION_MS, FEED_START, GRACE_MS } from '@gatewright/kernel'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import { openedTests } from '@gatewright/kernel/internal/testing'
import type { ListPosition, SessionRecord, SessionStorage } from '../storage/port.ts'
import { childOf, sessionRecord, policyIdOf } from './sample-records.ts'
import {
  connection,
  HOSTILE_TEXTS,
  STRANGE_IDS,
  MINUTE,
  NOW,
  countTrue,
  type StorageWithFeedUnderTest,
} from './storage-under-test.ts'

/** Contract suite of `SessionStorage`: run it against every adapter. `open` is called once per test. */
export function sessionStorageContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<StorageWithFeedUnderTest<SessionStorage>>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`SessionStorage on ${name}`, () => {
    test('finds a stored session as it was written, and no unknown session', async store => {
      const session = sessionRecord({ userId: 'user', scopes: [], policyIds: ['a'], label: 'till "3"' })
      assert.equal(await connection(store, 0).insert(session, []), true)
      assert.deepEqual(await connection(store, 1).find(session.sessionId), session)
      assert.equal(await connection(store, 1).find(randomUUID()), undefined)
    })

    test('finds and revokes nothing by ids that no session has, however short or strange', async store => {
      await connection(store, 0).insert(sessionRecord(), [])
      for (const id of STRANGE_IDS) {
        assert.equal(await connection(store, 0).find(id), undefined)
        assert.equal(await connection(store, 0).revoke(id, NOW), 0)
      }
      assert.deepEqual(await connection(store, 0).policies(STRANGE_IDS), [])
    })

    test('lists live sessions of one account, latest end first, until the instant they end', async store => {
      const accountId = randomUUID()
      const [early, late] = [1, 2].map(n => sessionRecord({ accountId, expiresAt: NOW + n * MINUTE }))
      for (const one of [early, late, sessionRecord()])
        await connection(store, 0).insert(one as SessionRecord, [])
      assert.deepEqual(await connection(store, 1).list(accountId, 10, NOW + MINUTE - 1), [late, early])
      assert.deepEqual(await connection(store, 1).list(accountId, 10, NOW + MINUTE), [late])
      assert.deepEqual(await connection(store, 1).list(accountId, 1, NOW), [late])
    })

    test('continues after a position, sessions of one end by falling id, without repeating or missing one', async store => {
      const accountId = randomUUID()
      const ends = [3, 2, 2, 2, 2, 1].map(n => NOW + n * MINUTE)
      const all = ends.map(expiresAt => sessionRecord({ accountId, expiresAt }))
      for (const one of all) await connection(store, 0).insert(one, [])
      const sorted = all.toSorted((a, b) => b.expiresAt - a.expiresAt || (a.sessionId < b.sessionId ? 1 : -1))
      const after = (one: SessionRecord): ListPosition => ({ at: one.expiresAt, id: one.sessionId })
      for (const [index, one] of sorted.entries()) {
        assert.deepEqual(
          await connection(store, 1).list(accountId, 10, NOW, after(one)),
          sorted.slice(index + 1),
        )
        assert.deepEqual(
          await connection(store, 1).list(accountId, 2, NOW, after(one)),
          sorted.slice(index + 1, index + 3),
        )
      }
      // The position is that of a row: it stays when the row has ended.
      const third = sorted[2] as SessionRecord
      await connection(store, 0).revoke(third.sessionId, NOW)
      assert.deepEqual(await connection(store, 1).list(accountId, 10, NOW, after(third)), sorted.slice(3))
      const positionOfNoRow = { at: NOW + 2 * MINUTE, id: '~' }
      const rest = sorted.filter(one => one.expiresAt <= positionOfNoRow.at && one !== third)
      assert.deepEqual(await connection(store, 1).list(accountId, 10, NOW, positionOfNoRow), rest)
    })

    test('lists past any number of sessions that are revoked', async store => {
      const accountId = randomUUID()
      const all = Array.from({ length: 300 }, (_, n) =>
        sessionRecord({ accountId, expiresAt: NOW + MINUTE + n }),
      )
      for (const one of all) await connection(store, 0).insert(one, [])
      const [first] = all
      for (const one of all.slice(1)) await connection(store, 0).revoke(one.sessionId, NOW)
      assert.deepEqual(await connection(store, 1).list(accountId, 2, NOW), [first])
    })

    test('revokes a session and those minted from it, and no other', async store => {
      const root = sessionRecord()
      const child = childOf(root)
      const grandchild = childOf(child)
      const sibling = childOf(root)
      for (const one of [root, child, grandchild, sibling]) await connection(store, 0).insert(one, [])
      assert.equal(await connection(store, 1).revoke(child.sessionId, NOW + 1), 2)
      assert.equal((await connection(store, 0).find(child.sessionId))?.revokedAt, NOW + 1)
      assert.equal((await connection(store, 0).find(grandchild.sessionId))?.revokedAt, NOW + 1)
      const live = await connection(store, 1).list(root.accountId, 10, NOW + 1)
      assert.deepEqual(live.map(one => one.sessionId).sort(), [root.sessionId, sibling.sessionId].sort())
    })

    test('counts a session in one of 50 simultaneous revocations, and unknown or ended sessions in none', async store => {
      const session = sessionRecord()
      await connection(store, 0).insert(session, [])
      const counts = await race(50, index => connection(store, index).revoke(session.sessionId, NOW))
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        1,
      )
      assert.equal(await connection(store, 0).revoke(randomUUID(), NOW), 0)
      const ended = sessionRecord({ expiresAt: NOW })
      await connection(store, 0).insert(ended, [])
      assert.equal(await connection(store, 1).revoke(ended.sessionId, NOW), 0)
    })

    test('revokes the live sessions of an account in steps, and no other', async store => {
      const accountId = randomUUID()
      const mine = Array.from({ length: 5 }, () => sessionRecord({ accountId }))
      const other = sessionRecord()
      const ended = sessionRecord({ accountId, expiresAt: NOW })
      for (const one of [...mine, other, ended]) await connection(store, 0).insert(one, [])
      await connection(store, 0).revoke((mine[0] as SessionRecord).sessionId, NOW)
      assert.equal(await connection(store, 1).revokeAccount(accountId, 3, NOW), 3)
      assert.equal(await connection(store, 0).revokeAccount(accountId, 3, NOW), 1)
      assert.equal(await connection(store, 1).revokeAccount(accountId, 3, NOW), 0)
      assert.deepEqual(await connection(store, 0).list(accountId, 10, NOW), [])
      assert.equal((await connection(store, 1).find(other.sessionId))?.revokedAt, null)
      const ids = mine.map(one => one.sessionId)
      const entries = (await store.readFeed(FEED_START)).filter(entry => ids.includes(entry.id))
      assert.deepEqual(entries.map(entry => entry.id).sort(), ids.sort())
    })

    test('appends each revoked session to the feed once', async store => {
      const root = sessionRecord()
      const child = childOf(root)
      for (const one of [root, child]) await connection(store, 0).insert(one, [])
      await race(5, index => connection(store, index).revoke(root.sessionId, NOW + 1))
      const ids = [root.sessionId, child.sessionId]
      const entries = (await store.readFeed(FEED_START)).filter(entry => ids.includes(entry.id))
      assert.deepEqual(
        entries
          .map(({ kind, id, at: when }) => ({ kind, id, at: when }))
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
        ids.sort().map(id => ({ kind: 'session', id, at: NOW + 1 })),
      )
    })

    test('refuses a session under a parent that is revoked or unknown', async store => {
      const root = sessionRecord()
      await connection(store, 0).insert(root, [])
      await connection(store, 0).revoke(root.sessionId, NOW)
      assert.equal(await connection(store, 1).insert(childOf(root), []), false)
      assert.equal(await connection(store, 1).insert(childOf(sessionRecord()), []), false)
    })

    test('leaves no live session under one that is revoked at the same moment', async store => {
      const root = sessionRecord()
      const middle = childOf(root)
      await connection(store, 0).insert(root, [])
      await connection(store, 0).insert(middle, [])
      const children = Array.from({ length: 30 }, () => childOf(middle))
      const inserted = await race(31, async index => {
        if (index === 15) return (await connection(store, index).revoke(root.sessionId, NOW)) > 0
        return connection(store, index).insert(children[index > 15 ? index - 1 : index] as SessionRecord, [])
      })
      assert.ok(countTrue(inserted) > 0)
      assert.deepEqual(await connection(store, 0).list(root.accountId, 100, NOW), [])
    })

    test('stores the policies of a session', async store => {
      const accountId = randomUUID()
      const policy = { id: policyIdOf(accountId), document: { dailySpendCapCents: 0, limits: [] } }
      await connection(store, 0).insert(sessionRecord({ accountId, policyIds: [policy.id] }), [policy])
      assert.deepEqual(await connection(store, 1).policies([policy.id, randomUUID()]), [policy])
      assert.deepEqual(await connection(store, 0).policies([policy.id]), [policy])
      assert.deepEqual(await connection(store, 0).policies([]), [])
    })

    test('keeps accounts apart whose ids differ in case, spaces, control characters or length', async store => {
      const run = randomUUID()
      const all = HOSTILE_TEXTS.map(text => sessionRecord({ accountId: run + text, label: text }))
      for (const one of all) assert.equal(await connection(store, 0).insert(one, []), true)
      for (const one of all) assert.deepEqual(await connection(store, 1).list(one.accountId, 10, NOW), [one])
    })

    test('keeps a feed entry for its retention, and no longer', async store => {
      const [old, young] = [sessionRecord(), sessionRecord()]
      for (const one of [old, young]) await connection(store, 0).insert(one, [])
      await connection(store, 0).revoke(old.sessionId, NOW)
      await connection(store, 0).revoke(young.sessionId, NOW + 1)
      await connection(store, 1).collect(1000, NOW + FEED_RETENTION_MS)
      const ids = async (): Promise<string[]> => (await store.readFeed(FEED_START)).map(entry => entry.id)
      assert.ok((await ids()).includes(old.sessionId))
      await connection(store, 1).collect(1000, NOW + 1 + FEED_RETENTION_MS)
      assert.ok(!(await ids()).includes(old.sessionId))
      assert.ok((await ids()).includes(young.sessionId))
    })

    test('reports a full batch while old feed entries are left, and deletes no younger one', async store => {
      // The sessions are too young to be collected, so only the entries cause further calls.
      const expiresAt = NOW + 2 * FEED_RETENTION_MS
      const old = Array.from({ length: 5 }, () => sessionRecord({ expiresAt }))
      const young = sessionRecord({ expiresAt })
      for (const one of [...old, young]) await connection(store, 0).insert(one, [])
      for (const { sessionId } of old) await connection(store, 0).revoke(sessionId, NOW)
      await connection(store, 0).revoke(young.sessionId, NOW + 1)
      await collectBatches(limit => connection(store, 1).collect(limit, NOW + 1 + FEED_RETENTION_MS), 2)
      const ids = (await store.readFeed(FEED_START)).map(entry => entry.id)
      assert.ok(!old.some(one => ids.includes(one.sessionId)))
      assert.ok(ids.includes(young.sessionId))
    })

    test('collects at most `limit` expired sessions, and none that a host 60 s behind still needs', async store => {
      const accountId = randomUUID()
      const policy = { id: policyIdOf(accountId), document: {} }
      const session = sessionRecord({ accountId, expiresAt: NOW + MINUTE, policyIds: [policy.id] })
      await connection(store, 0).insert(session, [policy])
      const fast = NOW + 2 * MINUTE
      await connection(store, 0).collect(1000, fast)
      assert.ok(await connection(store, 1).find(session.sessionId))
      const counts = await race(4, index => connection(store, index).collect(1, NOW + MINUTE + GRACE_MS))
      assert.ok(counts.every(count => count === 0 || count === 1))
      if (store.expiresNatively) return
      await collectBatches(limit => connection(store, 0).collect(limit, NOW + MINUTE + GRACE_MS), 1000)
      assert.equal(await connection(store, 1).find(session.sessionId), undefined)
    })
  })
}
