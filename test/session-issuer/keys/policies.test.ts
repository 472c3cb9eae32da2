import t from 'tap'
import { memoryFeed } from '@gatewright/kernel'
import { memoryCredentials } from '@gatewright/session-issuer/memory'
import { must, newKey, newSession, OWNER, setUp } from '../fixtures.ts'

/** An issuer, and the ids that it asked each storage for. */
function setUpCounted() {
  const credentials = memoryCredentials({ feed: memoryFeed() })
  const { keys, sessions } = credentials
  const read: string[] = []
  const counted = {
    ...credentials,
    keys: {
      ...keys,
      policies: (ids: readonly string[]) => {
        read.push(...ids.map(id => `key ${id}`))
        return keys.policies(ids)
      },
    },
    sessions: {
      ...sessions,
      policies: (ids: readonly string[]) => {
        read.push(...ids.map(id => `session ${id}`))
        return sessions.policies(ids)
      },
    },
  }
  return { ...setUp(counted), read }
}

t.test('reads a policy document from the storage once, since it never changes', async t => {
  const { issuer, read } = setUpCounted()
  const { key } = await newKey(issuer, ['a.read'], { policy: { dailySpendCapCents: 1 } })
  const session = await newSession(issuer, key, { policy: { dailySpendCapCents: 2 } })
  const [ofKey, ofSession] = session.policyIds as [string, string]
  read.length = 0
  const expected = [{ dailySpendCapCents: 1 }, { dailySpendCapCents: 2 }]
  t.same(await issuer.policies(session.policyIds), expected)
  // The check of the chain has read the policy of the key.
  t.same(read, [`key ${ofSession}`, `session ${ofSession}`])
  t.same(await issuer.policies(session.policyIds), expected)
  t.same(await issuer.policies([ofSession, ofKey]), expected.toReversed(), 'in the order of the ids')
  t.equal(read.length, 2, 'nothing is read twice')
})

t.test('reads a policy document again that larger ones have pushed out of the cache', async t => {
  const { issuer, read } = setUpCounted()
  const first = await newKey(issuer, ['a.read'], { policy: { first: true } })
  await issuer.policies(first.key.policyIds)
  // The cache has 16 MiB, and a document takes 4 bytes for each byte of its JSON.
  const policy = { x: 'x'.repeat(8000) }
  for (let n = 0; n < 530; n++) {
    const accountId = `acc${n}`
    const { key } = must(await issuer.createKey({ surface: 'user', ...OWNER, accountId, scopes: [], policy }))
    await issuer.policies(key.policyIds)
  }
  read.length = 0
  t.same(await issuer.policies(first.key.policyIds), [{ first: true }])
  t.same(
    read,
    first.key.policyIds.map(id => `key ${id}`),
  )
})

t.test('a policy that no storage has is a fault, also when the others of the chain are cached', async t => {
  const { issuer } = setUpCounted()
  const { key } = await newKey(issuer, ['a.read'], { policy: { dailySpendCapCents: 1 } })
  await issuer.policies(key.policyIds)
  await t.rejects(issuer.policies([...key.policyIds, 'pol_unknown']), { code: 'ERR_STORE_REPLY' })
})
