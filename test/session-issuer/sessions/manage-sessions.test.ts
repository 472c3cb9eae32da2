import type { Session } from '@gatewright/kernel'
import { createIssuer, type ApiKey, type Issuer } from '@gatewright/session-issuer'
import t from 'tap'
import { DAY, must, newKey, newSession, OWNER, setUp, USER } from '../fixtures.ts'

const STRANGER = { accountId: 'other' }
const openConsole = async (issuer: Issuer): Promise<Session> =>
  must(await issuer.openConsole({ ...OWNER, scopes: ['a.read'] })).session
const keyOf = async (issuer: Issuer, caller: ApiKey, id: string): Promise<ApiKey | undefined> =>
  must(await issuer.visibleKeys(caller)).find(key => key.id === id)

t.test('ending a session says how many ended, and ends nothing twice', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, [])
  const session = await newSession(issuer, key)
  const minted = await newSession(issuer, session)
  t.equal(await issuer.isCurrent(session), true)
  t.equal(must(await issuer.endSession(session, 'current')), 2)
  for (const each of [session, minted]) t.equal(await issuer.isCurrent(each), false)
  t.equal(must(await issuer.endSession(key, session.sessionId)), 0)
  t.equal(must(await issuer.endSession('operator', 'no-such-session')), 0)
  t.match(await issuer.endSession(key, 'no-such-session'), { code: 'not_found' })
  t.match(await issuer.endSession(key, 'current'), { code: 'not_found' }, 'a key is no session')
})

t.test('a session is current while its key lives, unchanged, and nothing has revoked it', async t => {
  const { issuer, clock } = setUp()
  const { key } = await newKey(issuer, [], { expiresAt: clock.now() + DAY })
  const session = await newSession(issuer, key, { ttlSeconds: 86_400 })
  t.equal(await issuer.isCurrent(session), true)
  t.equal(await issuer.isCurrent({ ...session, sessionId: 'unknown' }), false)
  t.equal(await issuer.isCurrent({ ...session, keyId: 'unknown' }), false)
  t.equal(await issuer.isCurrent({ ...session, keyVersion: 2 }), false)
  clock.advance(DAY)
  t.equal(await issuer.isCurrent(session), false, 'the key has expired')
})

t.test('the first session of a console ends the console, and a session that it minted does not', async t => {
  const { issuer, clock } = setUp()
  const { key: root } = await newKey(issuer, [])
  const session = await openConsole(issuer)
  const minted = await newSession(issuer, session)
  t.equal(must(await issuer.endSession(session, minted.sessionId)), 1)
  t.match(await keyOf(issuer, root, session.keyId), { revokedAt: null })
  t.equal(must(await issuer.endSession(session, 'current')), 1)
  t.match(await keyOf(issuer, root, session.keyId), { revokedAt: clock.now() })
  const rows = await issuer.listAudit(OWNER.accountId, 10)
  const by = { by: 'session', sessionId: session.sessionId, target: session.keyId }
  t.match(
    rows.filter(({ action }) => action === 'key.revoke'),
    [by],
  )
  must(await issuer.endSession(root, session.sessionId))
  t.equal((await issuer.listAudit(OWNER.accountId, 10)).length, rows.length, 'the console ends once')
})

t.test('has ended a console before the end of its session resolves', async t => {
  const set = setUp()
  const { keys } = set.options
  const issuer = createIssuer({
    ...set.options,
    keys: {
      ...keys,
      async commit(...args) {
        await new Promise(resolve => setImmediate(resolve))
        return keys.commit(...args)
      },
    },
  })
  const session = await openConsole(issuer)
  must(await issuer.endSession(session, 'current'))
  t.not((await keys.find(session.keyId))?.revokedAt, null)
})

t.test('a key ends sessions of its own and of the keys below it, and no other', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, [])
  const middle = await newKey(issuer, [], { parent: root.key })
  const below = await newKey(issuer, [], { parent: middle.key })
  const [above, own, lower] = [
    await newSession(issuer, root.key),
    await newSession(issuer, middle.key),
    await newSession(issuer, below.key),
  ]
  t.match(await issuer.endSession(middle.key, above.sessionId), { code: 'not_found' })
  t.equal(await issuer.isCurrent(above), true)
  t.equal(must(await issuer.endSession(middle.key, lower.sessionId)), 1)
  t.equal(must(await issuer.endSession(middle.key, own.sessionId)), 1)
})

t.test('the session of a key that is not a console leaves the key', async t => {
  const { issuer } = setUp()
  const { key, text } = await newKey(issuer, [])
  must(await issuer.endSession(key, (await newSession(issuer, key)).sessionId))
  t.equal((await issuer.authenticateKey(text, 'user')).ok, true)
  t.match(must(await issuer.endSessionWithKeys(key, (await newSession(issuer, key)).sessionId)), {
    sessions: 1,
    keys: 0,
  })
  t.equal((await issuer.authenticateKey(text, 'user')).ok, true)
})

t.test('ends a session with the keys that it created, and with its console', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, [])
  const session = await newSession(issuer, root)
  const made = await newKey(issuer, [], { parent: session })
  t.match(must(await issuer.endSessionWithKeys(session, 'current')), { sessions: 1, keys: 1 })
  t.match(await issuer.authenticateKey(made.text, 'user'), { reason: 'revoked' })
  const [first, second] = [await openConsole(issuer), await openConsole(issuer)]
  const minted = await newSession(issuer, first)
  t.match(must(await issuer.endSessionWithKeys(first, minted.sessionId)), { sessions: 1, keys: 0 })
  t.match(must(await issuer.endSessionWithKeys('operator', first.sessionId)), { sessions: 1, keys: 1 })
  t.match(await keyOf(issuer, root, second.keyId), { revokedAt: null }, 'another console stays')
})

t.test('a key ends the sessions of its own and of keys below with their keys, and no others', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, [])
  const { key: agent } = await newKey(issuer, [], { parent: root })
  const { key: below } = await newKey(issuer, [], { parent: agent })
  const { key: stranger } = await newKey(issuer, [], STRANGER)
  const [above, own, under] = [
    await newSession(issuer, root),
    await newSession(issuer, agent),
    await newSession(issuer, below),
  ]
  const end = (caller: ApiKey, { sessionId }: Session) => issuer.endSessionWithKeys(caller, sessionId)
  t.match(await end(agent, above), { code: 'not_found' })
  for (const session of [above, own]) t.match(await end(stranger, session), { code: 'not_found' })
  const foreign = await newSession(issuer, stranger)
  t.match(await end(root, foreign), { code: 'not_found' })
  t.match(await end({ ...agent, version: 2 }, own), { code: 'unauthorized' })
  for (const session of [own, under]) t.match(await end(agent, session), { ok: true, value: { sessions: 1 } })
  t.match(await end(root, above), { ok: true, value: { sessions: 1 } })
})

t.test('the operator names the account of a session that is deleted, and that of no stored one', async t => {
  const { issuer, clock } = setUp()
  const { key } = await newKey(issuer, [])
  const session = await newSession(issuer, key)
  await newKey(issuer, [], { parent: session })
  const end = (accountId?: string) => issuer.endSessionWithKeys('operator', session.sessionId, accountId)
  t.match(await end(STRANGER.accountId), { ok: true, value: { sessions: 1, keys: 1 } })
  clock.advance(DAY)
  await issuer.maintain()
  t.match(await end(), { code: 'not_found' })
  t.match(must(await end(USER.accountId)), { sessions: 0, keys: 0 })
})

t.test('denies the keys of a session to a caller that is revoked while the session ends', async t => {
  const set = setUp()
  const { key } = await newKey(set.issuer, [])
  const { key: child } = await newKey(set.issuer, [], { parent: key })
  const session = await newSession(set.issuer, child)
  const made = await newKey(set.issuer, [], { parent: session })
  const { sessions } = set.options
  const issuer = createIssuer({
    ...set.options,
    sessions: {
      ...sessions,
      async revoke(id, now, audit) {
        must(await set.issuer.changeKey(key, child.id, { scopes: [] }))
        return sessions.revoke(id, now, audit)
      },
    },
  })
  t.match(await issuer.endSessionWithKeys(child, session.sessionId), { code: 'unauthorized' })
  t.equal((await set.issuer.authenticateKey(made.text, 'user')).ok, true)
})

t.test('revoking an account ends all of its sessions, however many, and counts them', async t => {
  const { issuer } = setUp()
  const partner = await newKey(issuer, [], { surface: 'partner', accountId: 'partner' })
  const subject = { accountId: USER.accountId, userId: null, walletAddress: null }
  for (let n = 0; n < 502; n++) await newSession(issuer, partner.key, { subject })
  const kept = await newSession(issuer, partner.key, { subject: { ...subject, accountId: 'else' } })
  t.same(await issuer.revokeAccount(USER.accountId), { keys: 0, sessions: 502 })
  t.equal(await issuer.isCurrent(kept), true)
})
