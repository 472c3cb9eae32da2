import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { race, type TestRunner } from '@gatewright/kernel/testing'
import { openedTests } from '@gatewright/kernel/internal/testing'
import type { KeyRecord, KeyStorage } from '../storage/port.ts'
import { deletionTests, feedTests } from './key-steps.ts'
import { keyRecord, write, policyIdOf } from './sample-records.ts'
import {
  connection,
  HOSTILE_TEXTS,
  STRANGE_IDS,
  MINUTE,
  NOW,
  countTrue,
  type StorageWithFeedUnderTest,
} from './storage-under-test.ts'

/** Contract suite of `KeyStorage`: run it against every adapter. `open` is called once per test. */
export function keyStorageContract(
  runner: TestRunner,
  name: string,
  open: () => Promise<StorageWithFeedUnderTest<KeyStorage>>,
): void {
  const test = openedTests(runner, open)

  runner.describe(`KeyStorage on ${name}`, () => {
    test('finds a stored key as it was written, and no unknown key', async store => {
      const account = randomUUID()
      const key = keyRecord(account, {
        userId: 'user',
        walletAddress: '0xab',
        scopes: [],
        policyIds: ['a', 'b'],
        inheritedPolicies: 1,
        ancestry: ['x', 'y'],
        parentId: 'y',
        expiresAt: NOW + MINUTE,
        lastUsedAt: NOW,
        console: true,
      })
      assert.equal(await connection(store, 0).commit(account, 0, write(key)), true)
      assert.deepEqual(await connection(store, 1).find(key.id), key)
      assert.equal(await connection(store, 1).find(randomUUID()), undefined)
    })

    test('loads all keys of one account and of no other', async store => {
      const [account, other] = [randomUUID(), randomUUID()]
      const keys = [keyRecord(account), keyRecord(account)]
      await connection(store, 0).commit(account, 0, write(...keys))
      await connection(store, 0).commit(other, 0, write(keyRecord(other)))
      const loaded = await connection(store, 1).load(account)
      assert.deepEqual(loaded.keys.map(key => key.id).sort(), keys.map(key => key.id).sort())
      assert.deepEqual(await connection(store, 1).load(randomUUID()), { revision: 0, keys: [] })
    })

    test('lets one of 50 simultaneous first commits win, and writes nothing for the others', async store => {
      const account = randomUUID()
      const keys = Array.from({ length: 50 }, () => keyRecord(account))
      const results = await race(50, index =>
        connection(store, index).commit(account, 0, write(keys[index] as KeyRecord)),
      )
      assert.equal(countTrue(results), 1)
      const loaded = await connection(store, 0).load(account)
      assert.deepEqual(loaded.keys, [keys[results.indexOf(true)]])
    })

    test('lets one of 50 simultaneous commits at a later revision win', async store => {
      const account = randomUUID()
      const key = keyRecord(account)
      await connection(store, 0).commit(account, 0, write(key))
      const { revision } = await connection(store, 1).load(account)
      const results = await race(50, index =>
        connection(store, index).commit(account, revision, write({ ...key, version: index + 2 })),
      )
      assert.equal(countTrue(results), 1)
      assert.equal((await connection(store, 1).find(key.id))?.version, results.indexOf(true) + 2)
      assert.equal(await connection(store, 0).commit(account, revision, write(key)), false)
    })

    test('keeps the latest use, replaces the digest, and raises the revision', async store => {
      const account = randomUUID()
      const key = keyRecord(account)
      await connection(store, 0).commit(account, 0, write(key))
      const { revision } = await connection(store, 0).load(account)
      const rehash = { digest: 'newer', pepperId: 'p2' }
      await connection(store, 0).touch([
        { id: key.id, at: NOW + 2, rehash },
        { id: randomUUID(), at: NOW },
      ])
      await connection(store, 1).touch([{ id: key.id, at: NOW + 1 }])
      assert.deepEqual(await connection(store, 1).find(key.id), { ...key, lastUsedAt: NOW + 2, ...rehash })
      assert.equal(await connection(store, 1).commit(account, revision, write(key)), false)
    })

    test('never loses a use in a simultaneous commit', async store => {
      const account = randomUUID()
      const key = keyRecord(account)
      await connection(store, 0).commit(account, 0, write(key))
      await race(20, async index => {
        if (index % 2 === 0) return connection(store, index).touch([{ id: key.id, at: NOW + index }])
        const loaded = await connection(store, index).load(account)
        const next = { ...(loaded.keys[0] as KeyRecord), version: index }
        return connection(store, index).commit(account, loaded.revision, write(next))
      })
      assert.equal((await connection(store, 0).find(key.id))?.lastUsedAt, NOW + 18)
    })

    test('stores policies with their key, never changes one, and returns only those it has', async store => {
      const account = randomUUID()
      const key = keyRecord(account)
      const policy = { id: policyIdOf(account), lineageId: key.id, document: { limits: [1, 'é'], empty: [] } }
      await connection(store, 0).commit(account, 0, { ...write(key), policies: [policy] })
      const { revision } = await connection(store, 0).load(account)
      const changed = { ...policy, document: { other: true } }
      await connection(store, 0).commit(account, revision, { ...write(key), policies: [changed] })
      assert.deepEqual(await connection(store, 1).policies([randomUUID(), policy.id]), [
        { id: policy.id, document: policy.document },
      ])
      assert.deepEqual(await connection(store, 1).policies([]), [])
    })

    test('keeps accounts apart whose ids differ in case, spaces, control characters or length', async store => {
      const run = randomUUID()
      const keys = HOSTILE_TEXTS.map(text => keyRecord(run + text, { userId: text }))
      for (const key of keys)
        assert.equal(await connection(store, 0).commit(key.accountId, 0, write(key)), true)
      for (const key of keys) assert.deepEqual((await connection(store, 1).load(key.accountId)).keys, [key])
    })
    test('finds nothing by ids that no key has, however short or strange, and ignores their uses', async store => {
      for (const id of STRANGE_IDS) {
        assert.equal(await connection(store, 0).find(id), undefined)
        await connection(store, 0).touch([{ id, at: NOW }])
      }
      assert.deepEqual(await connection(store, 0).policies(STRANGE_IDS), [])
    })
    feedTests(test)
    deletionTests(test)
  })
}
