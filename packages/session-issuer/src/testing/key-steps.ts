import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { collectBatches, FEED_LANES, FEED_START, positionsAfter } from '@gatewright/kernel'
import { race } from '@gatewright/kernel/testing'
import type { openedTests } from '@gatewright/kernel/internal/testing'
import type { KeyRecord, KeyStorage } from '../storage/port.ts'
import { keyRecord, write, policyIdOf } from './sample-records.ts'
import { connection, MINUTE, NOW, countTrue, type StorageWithFeedUnderTest } from './storage-under-test.ts'

type DefineTest = ReturnType<typeof openedTests<StorageWithFeedUnderTest<KeyStorage>>>

/** The part of `keyStorageContract` about feed entries. */
export function feedTests(test: DefineTest): void {
  test('appends the feed entries of the winning commit in their order, and none of a losing commit', async store => {
    const account = randomUUID()
    const key = keyRecord(account)
    const [first, second] = [randomUUID(), randomUUID()]
    const feed = [
      { kind: 'key', id: first, version: 2, at: NOW, from: NOW + MINUTE },
      { kind: 'key', id: second, version: 3, at: NOW },
    ] as const
    const results = await race(10, index =>
      connection(store, index).commit(account, 0, { ...write(key), feed }),
    )
    assert.equal(countTrue(results), 1)
    const seen = (await store.readFeed(FEED_START)).filter(({ id }) => id === first || id === second)
    assert.deepEqual(
      seen.map(({ lane: _lane, position: _position, ...entry }) => entry),
      feed,
    )
    assert.equal(new Set(seen.map(({ lane }) => lane)).size, 1, 'an account has one lane')
  })

  test('shows a feed reader that goes on from its positions every entry once, in whatever order commits end', async store => {
    const ids: string[] = Array.from({ length: 120 }, () => randomUUID())
    const missing = new Set(ids)
    let positions = FEED_START
    let done = false
    const reading = (async () => {
      for (let last = false; !last; ) {
        last = done
        const entries = await store.readFeed(positions)
        for (const { lane, position, id } of entries) {
          assert.ok(Number.isInteger(lane) && lane >= 0 && lane < FEED_LANES, `lane ${lane}`)
          assert.ok(position > (positions[lane] as number), 'a position that was read already')
          assert.ok(!ids.includes(id) || missing.delete(id), 'an entry that was read already')
        }
        positions = positionsAfter(positions, entries)
        await new Promise(resolve => setImmediate(resolve))
      }
    })()
    // Several commits of each account, and accounts of many lanes.
    const accounts = Array.from({ length: 40 }, () => randomUUID())
    await race(accounts.length, async index => {
      const account = accounts[index] as string
      for (const [revision, id] of ids.slice(3 * index, 3 * index + 3).entries()) {
        const feed = [{ kind: 'key', id, version: 2, at: NOW }] as const
        const keys = connection(store, index + revision)
        assert.equal(await keys.commit(account, revision, { ...write(keyRecord(account)), feed }), true)
      }
    })
    done = true
    await reading
    assert.equal(missing.size, 0, 'a reader that goes on from its positions missed an entry')
  })
}

/** The part of `keyStorageContract` about deleted keys. */
export function deletionTests(test: DefineTest): void {
  test('deletes dropped keys in a commit, with the policies of lineages that have no key left', async store => {
    const account = randomUUID()
    const [gone, old, successor] = [keyRecord(account), keyRecord(account), keyRecord(account)]
    const later = { ...successor, lineageId: old.id }
    const policies = [gone, old].map(key => ({ id: policyIdOf(account), lineageId: key.id, document: {} }))
    await connection(store, 0).commit(account, 0, { keys: [gone, old, later], policies, feed: [] })
    const { revision } = await connection(store, 1).load(account)
    assert.equal(
      await connection(store, 1).commit(account, revision - 1, { ...write(), drop: [later.id] }),
      false,
    )
    assert.equal(
      await connection(store, 0).commit(account, revision, { ...write(), drop: [gone.id, old.id] }),
      true,
    )
    assert.deepEqual((await connection(store, 1).load(account)).keys, [later])
    assert.equal(await connection(store, 1).find(gone.id), undefined)
    const left = await connection(store, 1).policies(policies.map(policy => policy.id))
    assert.deepEqual(
      left.map(policy => policy.id),
      [policies[1]?.id],
    )
  })

  test('keeps a policy that keys of two lineages have until neither is left', async store => {
    const account = randomUUID()
    const [one, other] = [keyRecord(account), keyRecord(account, { revokedAt: NOW - 1 })]
    const policy = { id: policyIdOf(account), document: { shared: true } }
    const policies = [one, other].map(key => ({ ...policy, lineageId: key.id }))
    await connection(store, 0).commit(account, 0, { keys: [one, other], policies, feed: [] })
    assert.deepEqual(await connection(store, 1).policies([policy.id]), [policy])
    const { revision } = await connection(store, 1).load(account)
    await connection(store, 0).commit(account, revision, { ...write(), drop: [one.id] })
    assert.deepEqual(await connection(store, 1).policies([policy.id]), [policy])
    await collectBatches(limit => connection(store, 0).collect(limit, NOW), 1000)
    assert.deepEqual(await connection(store, 0).policies([policy.id]), [])
  })

  test('collects at most `limit` ended keys, and no live key', async store => {
    const account = randomUUID()
    const live = keyRecord(account, { expiresAt: NOW + MINUTE })
    const ended = [
      keyRecord(account, { revokedAt: NOW - 1 }),
      keyRecord(account, { expiresAt: NOW - 1 }),
      keyRecord(account, { revokedAt: NOW - 1, expiresAt: NOW + MINUTE }),
    ]
    const policies = [live, ended[0] as KeyRecord].map(key => ({
      id: policyIdOf(account),
      lineageId: key.lineageId,
      document: {},
    }))
    await connection(store, 0).commit(account, 0, { keys: [live, ...ended], policies, feed: [] })
    const first = await connection(store, 0).collect(2, NOW)
    assert.ok(first <= 2, 'at most 2')
    for (let round = 0; round < 20; round++) await connection(store, round).collect(2, NOW)
    assert.deepEqual((await connection(store, 1).load(account)).keys, [live])
    const left = await connection(store, 1).policies(policies.map(policy => policy.id))
    assert.deepEqual(
      left.map(policy => policy.id),
      [policies[0]?.id],
    )
  })
}
