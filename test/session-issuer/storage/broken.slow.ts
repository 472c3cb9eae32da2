import { memoryFeed, type MemoryFeed } from '@gatewright/kernel'
import { failingTests } from '@gatewright/kernel/testing'
import type {
  IssuerStorage,
  KeyStorage,
  SessionStorage,
  SigningKeySet,
  SigningKeyStorage,
} from '@gatewright/session-issuer'
import { memoryCredentials } from '@gatewright/session-issuer/memory'
import {
  auditContract,
  keyStorageContract,
  keyStorageFaults,
  sessionStorageContract,
  sessionStorageFaults,
  signingKeyStorageContract,
} from '@gatewright/session-issuer/testing'
import { sessionRecord } from '#packages/session-issuer/dist/testing/sample-records.js'
import t from 'tap'
import { memorySigningKeys } from '../fixtures.ts'

const yieldOnce = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
const close = async (): Promise<void> => {}

/** The names of the contract tests that fail for a memory adapter changed by `breaking`. */
function brokenKeys(
  breaking: (sound: KeyStorage, feed: MemoryFeed) => Partial<KeyStorage>,
): Promise<string[]> {
  return failingTests(runner =>
    keyStorageContract(runner, 'broken', async () => {
      const feed = memoryFeed()
      const sound = memoryCredentials({ feed }).keys
      const readFeed = async (positions: readonly number[]) => feed.after(positions, Infinity)
      return { connections: [{ ...sound, ...breaking(sound, feed) }], readFeed, close }
    }),
  )
}

function brokenSessions(
  breaking: (sound: SessionStorage, feed: MemoryFeed) => Partial<SessionStorage>,
): Promise<string[]> {
  return failingTests(runner =>
    sessionStorageContract(runner, 'broken', async () => {
      const feed = memoryFeed()
      const sound = memoryCredentials({ feed }).sessions
      const readFeed = async (positions: readonly number[]) => feed.after(positions, Infinity)
      return { connections: [{ ...sound, ...breaking(sound, feed) }], readFeed, close }
    }),
  )
}

t.test('passes correct adapters, so that the failures below mean something', async t => {
  t.same(await brokenKeys(() => ({})), [])
  t.same(await brokenSessions(() => ({})), [])
})

t.test('catches a commit that reads the revision and writes later', async t => {
  const failed = await brokenKeys(sound => ({
    async commit(account, revision, write) {
      const { revision: found } = await sound.load(account)
      await yieldOnce()
      if (found !== revision) return false
      return sound.commit(account, (await sound.load(account)).revision, write)
    },
  }))
  t.ok(failed.includes('lets one of 50 simultaneous first commits win, and writes nothing for the others'))
  t.ok(failed.includes('lets one of 50 simultaneous commits at a later revision win'))
})

t.test('catches a commit that appends to the feed before it has won', async t => {
  t.same(
    await brokenKeys((sound, feed) => ({
      async commit(account, revision, write) {
        feed.append(write.feed)
        return sound.commit(account, revision, { ...write, feed: [] })
      },
    })),
    ['appends the feed entries of the winning commit in their order, and none of a losing commit'],
  )
})

t.test('catches a commit that forgets the feed', async t => {
  const failed = await brokenKeys(sound => ({
    commit: (account, revision, write) => sound.commit(account, revision, { ...write, feed: [] }),
  }))
  t.equal(failed.length, 2)
})

t.test('catches a commit that overwrites a use', async t => {
  const failed = await brokenKeys(sound => ({
    async touch(uses) {
      for (const use of uses) {
        const key = await sound.find(use.id)
        if (!key) continue
        const { revision } = await sound.load(key.accountId)
        const touched = { ...key, ...use.rehash, lastUsedAt: use.at }
        await sound.commit(key.accountId, revision, { keys: [touched], policies: [], feed: [] })
      }
    },
  }))
  t.ok(failed.includes('keeps the latest use, replaces the digest, and raises the revision'))
})

t.test('catches an adapter that treats different accounts as one', async t => {
  const failed = await brokenKeys(sound => ({
    load: account => sound.load(account.normalize('NFC')),
    commit: (account, revision, write) =>
      sound.commit(account.normalize('NFC'), revision, {
        ...write,
        keys: write.keys.map(key => ({ ...key, accountId: key.accountId.normalize('NFC') })),
      }),
  }))
  t.same(failed, ['keeps accounts apart whose ids differ in case, spaces, control characters or length'])
})

t.test('catches a policy that is overwritten, and a collection that takes live keys', async t => {
  const documents = new Map<string, unknown>()
  t.same(
    await brokenKeys(sound => ({
      async commit(account, revision, write) {
        for (const { id, document } of write.policies) documents.set(id, document)
        return sound.commit(account, revision, write)
      },
      policies: async ids =>
        (await sound.policies(ids)).map(({ id }) => ({ id, document: documents.get(id) })),
    })),
    ['stores policies with their key, never changes one, and returns only those it has'],
  )
  t.same(await brokenKeys(sound => ({ collect: limit => sound.collect(limit, Infinity) })), [
    'collects at most `limit` ended keys, and no live key',
  ])
})

t.test('catches a policy that is deleted with the first lineage that had it', async t => {
  const known = new Set<string>()
  const failed = await brokenKeys(sound => ({
    commit(account, revision, write) {
      const policies = write.policies.filter(({ id }) => !known.has(id) && known.add(id))
      return sound.commit(account, revision, { ...write, policies })
    },
  }))
  t.same(failed, ['keeps a policy that keys of two lineages have until neither is left'])
})

t.test('catches an insert that reads its parent and stores later', async t => {
  t.same(
    await brokenSessions(sound => ({
      async insert(session, policies) {
        const parent = session.ancestry.at(-1)
        if (parent !== undefined && (await sound.find(parent))?.revokedAt !== null) return false
        await yieldOnce()
        return sound.insert({ ...session, ancestry: [] }, policies)
      },
    })).then(failed =>
      failed.includes('leaves no live session under one that is revoked at the same moment'),
    ),
    true,
  )
})

t.test('catches a revocation that leaves the sessions minted from the session', async t => {
  const failed = await brokenSessions((sound, feed) => ({
    async revoke(id, now) {
      const one = await sound.find(id)
      if (!one || one.revokedAt !== null || now >= one.expiresAt) return 0
      await sound.insert({ ...one, ancestry: [], revokedAt: now }, [])
      feed.append([{ kind: 'session', id, at: now }])
      return 1
    },
  }))
  t.ok(failed.includes('revokes a session and those minted from it, and no other'))
  t.ok(failed.includes('appends each revoked session to the feed once'))
})

t.test('catches a listing that is off by 1 ms at the end, and one without order', async t => {
  const listed = 'lists live sessions of one account, latest end first, until the instant they end'
  t.ok(
    (await brokenSessions(sound => ({ list: (id, n, now) => sound.list(id, n, now - 1) }))).includes(listed),
  )
  t.ok(
    (
      await brokenSessions(sound => ({ list: async (...args) => (await sound.list(...args)).toReversed() }))
    ).includes(listed),
  )
})

t.test('catches a listing that ignores its place, and one that skips all of the instant there', async t => {
  const listed =
    'continues after a position, sessions of one end by falling id, without repeating or missing one'
  const ignoring = await brokenSessions(sound => ({ list: (id, n, now) => sound.list(id, n, now) }))
  t.ok(ignoring.includes(listed))
  const skipping = await brokenSessions(sound => ({
    list: (id, n, now, after) => sound.list(id, n, now, after && { at: after.at, id: '' }),
  }))
  t.ok(skipping.includes(listed))
})

t.test('catches adapters that collect nothing', async t => {
  const sessions = await brokenSessions(() => ({ collect: async () => 0 }))
  t.ok(
    sessions.includes(
      'collects at most `limit` expired sessions, and none that a host 60 s behind still needs',
    ),
  )
  t.same(await brokenKeys(() => ({ collect: async () => 0 })), [
    'keeps a policy that keys of two lineages have until neither is left',
    'collects at most `limit` ended keys, and no live key',
  ])
  t.same(await brokenAudit(({ audit }) => ({ audit: { ...audit, collect: async () => 0 } })), [
    'keeps a row until its expiry, and collects at most `limit` rows',
  ])
})

t.test('catches a collection without the grace period', async t => {
  t.same(await brokenSessions(sound => ({ collect: (limit, now) => sound.collect(limit, now + 600_000) })), [
    'keeps a feed entry for its retention, and no longer',
    'reports a full batch while old feed entries are left, and deletes no younger one',
    'collects at most `limit` expired sessions, and none that a host 60 s behind still needs',
  ])
})

function brokenAudit(breaking: (sound: IssuerStorage) => Partial<IssuerStorage>): Promise<string[]> {
  return failingTests(runner =>
    auditContract(runner, 'broken', async () => {
      const sound = memoryCredentials({ feed: memoryFeed() })
      return { connections: [{ ...sound, ...breaking(sound) }], close }
    }),
  )
}

t.test('catches audit rows that are written outside the step of their change, or not at all', async t => {
  t.same(await brokenAudit(() => ({})), [])
  const apart = await brokenAudit(({ keys, sessions }) => ({
    keys: {
      ...keys,
      async commit(account, revision, { audit = [], ...write }) {
        for (const row of audit) await sessions.insert(sessionRecord(), [], row)
        return keys.commit(account, revision, write)
      },
    },
    sessions: {
      ...sessions,
      async insert(session, policies, row) {
        if (row) await sessions.insert(sessionRecord(), [], row)
        return sessions.insert(session, policies)
      },
      async revoke(id, now, row) {
        if (row) await sessions.insert(sessionRecord(), [], row)
        return sessions.revoke(id, now)
      },
    },
  }))
  t.same(apart, [
    'keeps the rows of the commit that wins, and none of those that lost',
    'keeps the row of a stored session, and none of a denied one',
    'keeps one row of simultaneous revocations, and none where nothing was live',
  ])
  const none = await brokenAudit(({ keys }) => ({
    keys: {
      ...keys,
      commit: (account, revision, { audit: _audit, ...write }) => keys.commit(account, revision, write),
    },
  }))
  t.equal(none.length, 5)
})

t.test('catches pages of audit rows that lose the rows of one instant', async t => {
  t.same(
    await brokenAudit(({ audit }) => ({
      audit: { ...audit, list: (account, limit, { at }) => audit.list(account, limit, { at }) },
    })),
    ['lists each row once by pages that begin after the last row, many rows of one instant too'],
  )
})

t.test('catches audit rows listed in the wrong order, and rows collected too early', async t => {
  t.same(
    await brokenAudit(({ audit }) => ({
      audit: { ...audit, list: async (...args) => (await audit.list(...args)).toReversed() },
    })),
    [
      'lists rows of one account from before an instant, newest first, up to the limit',
      'lists each row once by pages that begin after the last row, many rows of one instant too',
    ],
  )
  t.same(
    await brokenAudit(({ audit }) => ({
      audit: { ...audit, collect: (limit, now) => audit.collect(limit, now + 1) },
    })),
    ['keeps a row until its expiry, and collects at most `limit` rows'],
  )
})

t.test('catches a set of signing keys that is read and replaced later', async t => {
  const failed = await failingTests(runner =>
    signingKeyStorageContract(runner, 'broken', async () => {
      let set: SigningKeySet = { revision: 0, keys: [] }
      const broken: SigningKeyStorage = {
        load: async () => set,
        async replace(revision, keys) {
          const { revision: found } = set
          await yieldOnce()
          if (found !== revision) return false
          set = { revision: revision + 1, keys }
          return true
        },
      }
      return { connections: [broken], close }
    }),
  )
  t.equal(failed.length, 2)
  const sound = await failingTests(runner =>
    signingKeyStorageContract(runner, 'model', async () => ({ connections: [memorySigningKeys()], close })),
  )
  t.same(sound, [])
})

t.test(
  'catches adapters that resolve instead of throwing when their connection breaks or their reply is malformed',
  async t => {
    const healthy = memoryCredentials({ feed: memoryFeed() })
    const keys: KeyStorage = {
      ...healthy.keys,
      commit: async () => false,
      load: async () => ({ revision: 0, keys: [] }),
    }
    const sessions: SessionStorage = {
      ...healthy.sessions,
      insert: async () => true,
      find: async () => undefined,
    }
    const failedKeys = await failingTests(runner =>
      keyStorageFaults(runner, 'broken', async () => ({
        healthy: healthy.keys,
        cutBefore: keys,
        cutAfter: keys,
        malformed: keys,
        close,
      })),
    )
    const failedSessions = await failingTests(runner =>
      sessionStorageFaults(runner, 'broken', async () => ({
        healthy: healthy.sessions,
        cutBefore: sessions,
        cutAfter: sessions,
        malformed: sessions,
        close,
      })),
    )
    t.equal(failedKeys.length, 4)
    t.equal(failedSessions.length, 4)
  },
)

t.test('catches an adapter of sessions that decides by its own clock, in any of its functions', async t => {
  const broken = [
    (sound: SessionStorage): Partial<SessionStorage> => ({
      revoke: (id, _now, audit) => sound.revoke(id, Date.now(), audit),
    }),
    (sound: SessionStorage): Partial<SessionStorage> => ({
      revokeAccount: (accountId, limit) => sound.revokeAccount(accountId, limit, Date.now()),
    }),
    (sound: SessionStorage): Partial<SessionStorage> => ({
      collect: limit => sound.collect(limit, Date.now()),
    }),
  ]
  for (const [index, breaking] of broken.entries())
    t.not((await brokenSessions(breaking)).length, 0, `function ${index + 1}`)
})
