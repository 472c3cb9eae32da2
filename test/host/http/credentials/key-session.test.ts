import t from 'tap'
import { internals } from '../../../harness/internals.ts'
import { newKey, newSession, setUp } from '../../../session-issuer/fixtures.ts'

const { isKeyCurrent, isKeySession, keySession } = internals

t.test('a presented key has a session of its own for one request, with all rights of the key', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, [], { policy: { dailySpendCapCents: 5 } })
  const session = keySession(key)
  t.match(session, {
    sessionId: `key:${key.id}`,
    keyId: key.id,
    keyVersion: key.version,
    policyIds: key.policyIds,
    scopes: key.scopes,
    issuedAt: 0,
    expiresAt: Number.MAX_SAFE_INTEGER,
    key,
  })
  t.ok(isKeySession(session))
  t.notOk(isKeySession(await newSession(issuer, key)))
})

t.test('a key is current until it is changed, revoked or expires', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, [])
  const session = keySession(key)
  const stored = { ...key, digest: 'x', pepperId: 'p1' }
  const isCurrent = (changes: object, now = 100): Promise<boolean> => {
    const find = async (id: string) => (id === key.id ? { ...stored, ...changes } : undefined)
    return isKeyCurrent({ find }, session, now)
  }
  t.ok(await isCurrent({}))
  t.ok(await isCurrent({ expiresAt: null }))
  t.notOk(await isCurrent({ version: key.version + 1 }))
  t.notOk(await isCurrent({ revokedAt: 1 }))
  t.same([await isCurrent({ expiresAt: 101 }), await isCurrent({ expiresAt: 100 })], [true, false])
  t.notOk(await isKeyCurrent({ find: async () => undefined }, session, 100), 'it was deleted')
})
