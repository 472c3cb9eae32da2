import { once } from 'node:events'
import { GRACE_MS, memoryFeed } from '@gatewright/kernel'
import { memoryCredentials } from '@gatewright/session-issuer/memory'
import { auditContract, keyStorageContract, sessionStorageContract } from '@gatewright/session-issuer/testing'
import { auditEntry, keyRecord, sessionRecord } from '@gatewright/session-issuer/internal'
import t from 'tap'
import { runner } from '../../harness/runner.ts'

function open() {
  const feed = memoryFeed()
  return {
    ...memoryCredentials({ feed }),
    readFeed: async (positions: readonly number[]) => feed.after(positions, Infinity),
    close: async () => {},
  }
}

keyStorageContract(runner, 'memory', async () => {
  const { keys, ...rest } = open()
  return { connections: [keys], ...rest }
})

sessionStorageContract(runner, 'memory', async () => {
  const { sessions, ...rest } = open()
  return { connections: [sessions], ...rest }
})

auditContract(runner, 'memory', async () => {
  const { close, ...store } = open()
  return { connections: [store], close }
})

t.test('collects exactly what has ended for long enough, with its policies', async t => {
  const { keys, sessions, audit } = memoryCredentials({ feed: memoryFeed() })
  const policyOf = (id: string) => ({ id: `policy ${id}`, document: {} })
  for (const [id, expiresAt] of [
    ['a', 1000],
    ['b', 1000],
    ['c', 1001],
  ] as const) {
    await sessions.insert(sessionRecord({ sessionId: id, accountId: 'acc', expiresAt, issuedAt: 0 }), [
      policyOf(id),
    ])
  }
  t.equal(await sessions.collect(9, 1000 + GRACE_MS - 1), 0)
  t.equal(await sessions.collect(1, 1000 + GRACE_MS), 1)
  t.equal(await sessions.collect(9, 1000 + GRACE_MS), 1)
  const left = await sessions.policies(['a', 'b', 'c'].map(id => `policy ${id}`))
  t.same(left, [policyOf('c')])
  const ended = ['d', 'e', 'f'].map((id, n) => keyRecord('acc', { id, revokedAt: 10 + n }))
  const policies = ended.map(key => ({ ...policyOf(key.id), lineageId: key.id }))
  await keys.commit('acc', 0, { keys: ended, policies, feed: [] })
  t.equal(await keys.collect(9, 10), 0, 'a key that ended at the instant stays')
  t.equal(await keys.collect(9, 12), 2)
  t.same(
    (await keys.load('acc')).keys.map(({ id }) => id),
    ['f'],
  )
  t.same(await keys.policies(policies.map(({ id }) => id)), [policyOf('f')])
  await keys.commit('acc', 1, {
    keys: [],
    policies: [],
    feed: [],
    audit: [auditEntry('acc', { expiresAt: 20 })],
  })
  t.equal(await audit.collect(9, 19), 0)
  t.equal(await audit.collect(9, 20), 1)
})

t.test('counts each commit and each use in the revision', async t => {
  const { keys } = memoryCredentials({ feed: memoryFeed() })
  const key = keyRecord('acc')
  t.equal(await keys.commit('acc', 1, { keys: [key], policies: [], feed: [] }), false)
  t.equal(await keys.commit('acc', 0, { keys: [key], policies: [], feed: [] }), true)
  t.equal((await keys.load('acc')).revision, 1)
  await keys.touch([{ id: key.id, at: 1 }])
  t.equal((await keys.load('acc')).revision, 2)
  t.equal(await keys.commit('acc', 2, { keys: [], policies: [], feed: [] }), true)
  t.equal((await keys.load('acc')).revision, 3)
})

t.test('warns in production that it keeps its state in one process', async t => {
  const before = process.env['NODE_ENV']
  t.teardown(() => {
    process.env['NODE_ENV'] = before
  })
  process.env['NODE_ENV'] = 'production'
  const warned = once(process, 'warning')
  memoryCredentials({ feed: memoryFeed() })
  const [warning] = (await warned) as [Error & { code: string }]
  t.match(warning, { code: 'GATEWRIGHT_MEMORY_STORAGE', message: /^session-issuer keeps its state/ })
})
