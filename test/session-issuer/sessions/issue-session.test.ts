import { FEED_START, type Session } from '@gatewright/kernel'
import { fromClaims } from '@gatewright/kernel/internal'
import { createIssuer } from '@gatewright/session-issuer'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import t from 'tap'
import { must, newKey, newSession, setUp, setUpStored, USER } from '../fixtures.ts'

const SUBJECT = { accountId: 'partner/u', userId: 'u', walletAddress: null }

for (const algorithm of ['EdDSA', 'ES256'] as const) {
  t.test(`an ${algorithm} token carries its session and verifies with the published keys`, async t => {
    const { issuer, clock } = setUp({ algorithm })
    const { key } = await newKey(issuer, ['a.read', 'b.read'], { policy: { root: 1 } })
    const { token, session } = must(
      await issuer.issueSession(key, { scopes: ['b.read'], policy: { leaf: 1 } }),
    )
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(await issuer.jwks()), {
      issuer: 'https://gate.example',
      audience: 'https://gate.example',
      typ: 'at+jwt',
      algorithms: [algorithm],
      currentDate: new Date(clock.now()),
    })
    t.same(fromClaims(payload), session)
    t.same(Object.keys(protectedHeader).sort(), ['alg', 'kid', 'typ'])
    t.match(session, { ...USER, keyId: key.id, keyVersion: 1, scopes: ['b.read'] })
    t.equal(session.expiresAt, clock.now() + 900_000)
    t.same(await issuer.policies(session.policyIds), [{ root: 1 }, { leaf: 1 }])
  })
}

t.test('the dates of a token are whole seconds, and it never lives longer than requested', async t => {
  const { issuer, clock } = setUp()
  clock.advance(999)
  const { key } = await newKey(issuer, [])
  const { token, session } = must(await issuer.issueSession(key, { ttlSeconds: 60 }))
  const { iat = 0, exp = 0 } = decodeJwt(token)
  t.equal(exp - iat, 60)
  t.equal(iat, Math.floor(clock.now() / 1000))
  t.ok(session.expiresAt <= clock.now() + 60_000)
})

t.test('denies scopes that the key or session does not hold, by name', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, ['a.read', 'b.read'])
  const session = await newSession(issuer, key, { scopes: ['a.read'] })
  const denial = { code: 'insufficient_scope', status: 403, details: { scope: ['c.read', 'd.read'] } }
  t.match(await issuer.issueSession(key, { scopes: ['a.read', 'c.read', 'd.read'] }), denial)
  t.match(await issuer.issueSession(session, { scopes: ['b.read'] }), { details: { scope: ['b.read'] } })
})

t.test('denies a life outside 60 to 86400 s, and shortens it to the end of the key', async t => {
  const { issuer, clock } = setUp()
  const { key } = await newKey(issuer, [], { expiresAt: clock.now() + 100_500 })
  for (const ttlSeconds of [59, 86_401, 60.5, NaN, -1, '900' as never, null as never]) {
    t.match(await issuer.issueSession(key, { ttlSeconds }), { code: 'invalid_request', field: 'ttlSeconds' })
  }
  const session = await newSession(issuer, key, { ttlSeconds: 86_400 })
  t.equal(session.expiresAt, clock.now() + 100_000)
  clock.advance(100_000)
  t.match(await issuer.issueSession(key), { code: 'unauthorized', reason: /within this second/ })
  clock.advance(500)
  t.match(await issuer.issueSession(key), { code: 'unauthorized', reason: 'the key or session has ended' })
})

t.test(
  'a session minted from a session ends no later, has at least its policies, and is revoked with it',
  async t => {
    const { issuer, clock } = setUp()
    const { key } = await newKey(issuer, ['a.read'], { policy: { root: 1 } })
    const parent = await newSession(issuer, key, { ttlSeconds: 100, policy: { parent: 1 } })
    const child = await newSession(issuer, parent, { ttlSeconds: 86_400, policy: { child: 1 } })
    t.equal(child.expiresAt, parent.expiresAt)
    t.same(await issuer.policies(child.policyIds), [{ root: 1 }, { parent: 1 }, { child: 1 }])
    t.equal(must(await issuer.endSession(child, parent.sessionId)), 2)
    t.equal(await issuer.isCurrent(child), false)
    for (const ended of [parent, child]) {
      t.match(await issuer.issueSession(ended), { code: 'unauthorized' })
    }
    t.match(await issuer.issueSession({ ...parent, sessionId: 'unknown' }), { code: 'unauthorized' })
    const later = await newSession(issuer, key, { ttlSeconds: 60 })
    clock.advance(60_000)
    t.match(await issuer.issueSession(later), { code: 'unauthorized' })
  },
)

t.test('denies a session chain deeper than 8', async t => {
  const { issuer } = setUp()
  let session: Session = await newSession(issuer, (await newKey(issuer, [])).key)
  for (let depth = 0; depth < 8; depth++) session = await newSession(issuer, session)
  t.match(await issuer.issueSession(session), { details: { rule: 'max_depth' } })
})

t.test('requires a user for a session of a partner key, and denies one for any other', async t => {
  const { issuer } = setUp()
  const partner = await newKey(issuer, ['a.read'], { surface: 'partner', accountId: 'partner' })
  t.match(await issuer.issueSession(partner.key), { code: 'invalid_request', field: 'userId' })
  const session = await newSession(issuer, partner.key, { subject: SUBJECT, scopes: [], label: 'till 3' })
  t.match(session, { ...SUBJECT, surface: 'partner', keyId: partner.key.id, scopes: [] })
  t.match(await issuer.issueSession(session, { subject: SUBJECT }), { field: 'userId' })
  const { key } = await newKey(issuer, [])
  t.match(await issuer.issueSession(key, { subject: SUBJECT }), { field: 'userId' })
  const long = { subject: SUBJECT, label: 'x'.repeat(121) }
  t.match(await issuer.issueSession(partner.key, long), { code: 'invalid_request', field: 'label' })
  for (const label of ['a\u001b[2J', 'a\nb', 'a\u2028b', 'a\u202eb', 'a\u2066b'])
    t.match(await issuer.issueSession(partner.key, { subject: SUBJECT, label }), {
      code: 'invalid_request',
      field: 'label',
      message: /characters that change the direction of text$/,
    })
  t.equal((await issuer.issueSession(partner.key, { subject: SUBJECT, label: 'x'.repeat(120) })).ok, true)
})

t.test('denies a label and ids of a user that some store cannot store unchanged', async t => {
  const { issuer } = setUp()
  const partner = await newKey(issuer, ['a.read'], { surface: 'partner', accountId: 'partner' })
  for (const bad of ['u\ud83d', 'u\ude00\ud83d', 'u\0']) {
    const labelled = await issuer.issueSession(partner.key, { subject: SUBJECT, label: bad })
    t.match(labelled, { code: 'invalid_request', field: 'label' })
    for (const subject of [
      { ...SUBJECT, accountId: bad },
      { ...SUBJECT, userId: bad },
    ]) {
      const denial = { code: 'invalid_request', field: 'userId' }
      t.match(await issuer.issueSession(partner.key, { subject }), denial)
    }
  }
  t.equal((await newSession(issuer, partner.key, { subject: SUBJECT, label: 'u\ufffd' })).userId, 'u')
  const unnamed = { ...SUBJECT, userId: null }
  t.equal((await newSession(issuer, partner.key, { subject: unnamed })).userId, null)
})

t.test('denies a token of more than 4 KiB, and stores nothing', async t => {
  const { issuer, options, clock } = setUp()
  const scopes = Array.from({ length: 200 }, (_, n) => `scope-number-${n}.read`)
  const { key } = await newKey(issuer, scopes)
  t.match(await issuer.issueSession(key), { code: 'invalid_request', field: 'scopes' })
  t.same(await options.sessions.list(USER.accountId, 10, clock.now()), [])
  t.ok(must(await issuer.issueSession(key, { scopes: scopes.slice(0, 60) })).token.length <= 4096)
})

t.test('a caller lists and ends the sessions of its own keys, and a root those of its account', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read'])
  const child = await newKey(issuer, ['a.read'], { parent: root.key })
  const above = await newSession(issuer, root.key)
  const below = await newSession(issuer, child.key, { label: 'below' })
  const ids = async (caller: typeof root.key) =>
    must(await issuer.listSessions(caller))
      .sessions.map(session => session.sessionId)
      .sort()
  t.same(await ids(root.key), [above.sessionId, below.sessionId].sort())
  t.same(await ids(child.key), [below.sessionId])
  t.match(await issuer.endSession(child.key, above.sessionId), { code: 'not_found', status: 404 })
  const stranger = await newKey(issuer, [], { accountId: 'else' })
  t.match(await issuer.endSession(stranger.key, above.sessionId), { code: 'not_found' })
  t.equal(must(await issuer.endSession(above, 'current')), 1)
  t.equal(must(await issuer.endSession('operator', below.sessionId)), 1)
  t.same(await ids(root.key), [])
})

t.test('throws a fault when a policy of a chain is missing', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, [], { policy: { a: 1 } })
  await t.rejects(issuer.policies([...key.policyIds, 'pol_gone']), { code: 'ERR_STORE_REPLY' })
  t.same(await issuer.policies([]), [])
})

t.test('maintain deletes sessions, ended keys and old feed entries', async t => {
  const { issuer, clock, feed, options } = setUp()
  const gone = await newKey(issuer, [])
  await newSession(issuer, gone.key)
  must(await issuer.revokeKey('operator', gone.key.id))
  const kept = await newKey(issuer, [])
  t.match(await issuer.maintain(), { collectedKeys: 0, collectedSessions: 0 })
  clock.advance(7 * 86_400_000 + 1)
  t.match(await issuer.maintain(), { collectedKeys: 1, collectedSessions: 1 })
  t.same(feed.after(FEED_START, 10), [])
  t.same(
    (await options.keys.load(USER.accountId)).keys.map(key => key.id),
    [kept.key.id],
  )
})

t.test('refuses wrong options at construction, by name and without showing a secret', async t => {
  const { options } = setUp()
  const secret = 'hunter2'
  const wrong: [RegExp, object][] = [
    [/^createIssuer: issuer must be/, { issuer: '' }],
    [/^createIssuer: audience must be/, { audience: undefined }],
    [/^createIssuer: environment must be/, { environment: 'test' }],
    [/^keyPrefix must be/, { keyPrefix: 'G_' }],
    [/^createIssuer: algorithm must be/, { algorithm: 'HS256' }],
    [/^peppers must be/, { peppers: [] }],
    [/^peppers: the secret of "p" must have at least 32 bytes/, { peppers: [{ id: 'p', secret }] }],
    [/^peppers: an id must be/, { peppers: [{ id: 'p q', secret: 'x'.repeat(32) }] }],
    [
      /^peppers: the id "p" is given twice/,
      { peppers: [1, 2].map(() => ({ id: 'p', secret: 'x'.repeat(32) })) },
    ],
    [/^createIssuer: keys must be an object, not undefined/, { keys: undefined }],
    [/^createIssuer: maxLiveKeys must be an integer from 1 to 1000, not 0/, { maxLiveKeys: 0 }],
    [/^createIssuer: maxKeysBelow must be an integer from 1 to 1000, not string/, { maxKeysBelow: '5' }],
  ]
  for (const [message, change] of wrong) {
    t.throws(() => createIssuer({ ...options, ...change }), { name: 'TypeError', message })
    try {
      createIssuer({ ...options, ...change })
    } catch (error) {
      t.notMatch((error as Error).message, secret)
    }
  }
})

t.test('the kid of a token is the thumbprint of a published key', async t => {
  const { issuer } = setUp()
  const { token } = must(await issuer.issueSession((await newKey(issuer, [])).key))
  const { kid } = decodeProtectedHeader(token)
  t.equal((await issuer.verificationKey(kid!))?.kid, kid)
})

t.test('accepts a session of 16 policies, and denies one more', async t => {
  const { issuer } = setUp()
  let { key } = await newKey(issuer, [], { policy: {} })
  for (let n = 1; n < 9; n++) key = (await newKey(issuer, [], { parent: key, policy: {} })).key
  let session = await newSession(issuer, key, { policy: {} })
  for (let n = 10; n < 16; n++) session = await newSession(issuer, session, { policy: {} })
  t.equal(session.policyIds.length, 16)
  t.equal((await issuer.issueSession(session)).ok, true)
  t.match(await issuer.issueSession(session, { policy: {} }), { details: { rule: 'max_depth' } })
})

t.test('issues a session under policies that were stored before there was a bound', async t => {
  const { issuer } = setUpStored(() => ({ long: 'x'.repeat(40_000) }))
  const { key } = await newKey(issuer, [], { policy: { long: 'x' } })
  t.equal((await issuer.issueSession(key)).ok, true)
})

t.test('accepts a token of 4096 bytes, and denies a longer one', async t => {
  const tokenWith = async (scopeLength: number) => {
    const { issuer } = setUp()
    return issuer.issueSession((await newKey(issuer, ['x'.repeat(scopeLength)])).key)
  }
  const base = must(await tokenWith(1000)).token.length
  // Base64url makes 4 characters of 3, so the length of the scope decides the length of the token.
  const lengthAt = (scopeLength: number): number => base + ((scopeLength - 1000) * 4) / 3
  const last = Array.from({ length: 3000 }, (_, n) => 1000 + n).findLast(n => lengthAt(n) <= 4096) as number
  const { length } = must(await tokenWith(last)).token
  t.ok(length >= 4095 && length <= 4096, `${length} bytes`)
  t.match(await tokenWith(last + 2), {
    code: 'invalid_request',
    message: 'the token would be longer than 4096 bytes',
  })
})

t.test('denies a session whose parent is revoked while it is issued', async t => {
  const { issuer, options } = setUp()
  const { key } = await newKey(issuer, [])
  const parent = await newSession(issuer, key)
  const { sessions } = options
  const racing = createIssuer({
    ...options,
    sessions: {
      ...sessions,
      async insert(...args) {
        await issuer.endSession(key, parent.sessionId)
        return sessions.insert(...args)
      },
    },
  })
  const denial = { code: 'unauthorized', reason: 'the parent session was revoked' }
  t.match(await racing.issueSession(parent), denial)
})

t.test('gives a session an id of 22 characters, its policy one of 16, and stores its label', async t => {
  const { issuer, options } = setUp()
  const { key } = await newKey(issuer, [])
  const { sessionId, policyIds } = await newSession(issuer, key, { label: 'mine', policy: {} })
  t.match(sessionId, /^[0-9A-Za-z]{22}$/)
  t.match(policyIds, [/^pol_[0-9A-Za-z]{16}$/])
  t.equal((await options.sessions.find(sessionId))?.label, 'mine')
  await t.rejects(issuer.issueSession(key, { ttl: 60 } as never), TypeError)
})
