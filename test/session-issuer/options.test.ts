import t from 'tap'
import { createIssuer } from '@gatewright/session-issuer'
import { DAY, must, newKey, newSession, setUp, USER } from './fixtures.ts'

t.test('accepts each numeric option at its bounds and refuses it beyond them', async t => {
  const { options } = setUp()
  const bounds = {
    maxSessionTtlSeconds: [60, 86_400],
    maxLiveKeys: [1, 1000],
    maxKeysBelow: [1, 1000],
    auditRetentionDays: [1, 3650],
    signingKeyDays: [1, 400],
  }
  for (const [name, [min = 0, max = 0]] of Object.entries(bounds)) {
    for (const value of [min, max]) t.ok(createIssuer({ ...options, [name]: value }), `${name} ${value}`)
    for (const value of [min - 1, max + 1, min + 0.5, '5', NaN]) {
      const message = `createIssuer: ${name} must be an integer from ${min} to ${max}`
      t.throws(() => createIssuer({ ...options, [name]: value }), { name: 'TypeError', message })
    }
  }
})

t.test(
  'keeps session lifetimes between 60 s and the option, whose default moves into its bounds',
  async t => {
    const { issuer } = setUp({ maxSessionTtlSeconds: 600 })
    const { key } = await newKey(issuer, [])
    const life = async (ttlSeconds?: number): Promise<number> => {
      const session = await newSession(issuer, key, ttlSeconds === undefined ? {} : { ttlSeconds })
      return (session.expiresAt - session.issuedAt) / 1000
    }
    t.same([await life(60), await life(600), await life()], [60, 600, 600])
    for (const ttlSeconds of [59, 601]) {
      const message = 'ttlSeconds must be an integer from 60 to 600'
      t.match(await issuer.issueSession(key, { ttlSeconds }), { code: 'invalid_request', message })
    }
    const { options } = setUp()
    const wrong: [string, object][] = [
      ['maxSessionTtlSeconds must be an integer from 60 to 86400, not 59', { maxSessionTtlSeconds: 59 }],
      [
        'defaultSessionTtlSeconds must be an integer from 60 to 86400, not 59',
        { defaultSessionTtlSeconds: 59 },
      ],
      [
        'defaultSessionTtlSeconds must be an integer from 60 to 300, not 900',
        { maxSessionTtlSeconds: 300, defaultSessionTtlSeconds: 900 },
      ],
    ]
    for (const [message, change] of wrong) {
      t.throws(() => createIssuer({ ...options, ...change }), { name: 'TypeError', message })
    }
  },
)

t.test('denies chains, labels and overlaps beyond their limits', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, ['a'])
  const max = { code: 'policy_blocked', details: { rule: 'max_depth' } }
  let below = key
  let session = await newSession(issuer, key)
  for (let n = 0; n < 8; n++) {
    below = (await newKey(issuer, ['a'], { parent: below })).key
    session = await newSession(issuer, session)
  }
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: below }), max)
  t.match(await issuer.issueSession(session), max)
  t.match(await issuer.issueSession(key, { label: 'x'.repeat(121) }), {
    code: 'invalid_request',
    field: 'label',
  })
  t.equal((await issuer.issueSession(key, { label: 'x'.repeat(120) })).ok, true)
  t.match(await issuer.rotateKey(key, key.id, { overlapSeconds: 604_801 }), {
    code: 'invalid_request',
    message: 'overlapSeconds must be an integer from 0 to 604800',
  })
  t.equal((await issuer.rotateKey(key, key.id, { overlapSeconds: 604_800 })).ok, true)
})

t.test('denies a change by which a key would have more than 16 policies', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, [])
  let session = await newSession(issuer, root.key, { policy: {} })
  for (let n = 1; n < 8; n++) session = await newSession(issuer, session, { policy: {} })
  const below = await newKey(issuer, [], { parent: session })
  session = await newSession(issuer, below.key, { policy: {} })
  for (let n = 1; n < 8; n++) session = await newSession(issuer, session, { policy: {} })
  const full = await newKey(issuer, [], { parent: session })
  t.equal(full.key.policyIds.length, 16)
  t.match(await issuer.changeKey(full.key, full.key.id, { policy: {} }), {
    code: 'policy_blocked',
    details: { rule: 'max_depth' },
  })
})

t.test('keeps the latest 200 ended keys listed', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, [])
  for (let n = 0; n < 203; n++) {
    const { key: below } = await newKey(issuer, [], { parent: key })
    must(await issuer.revokeKey(key, below.id))
  }
  // A commit deletes what was too much before it, so the last revoked key comes on top.
  t.equal(must(await issuer.visibleKeys(key)).length, 202)
})

t.test('retires a root that was idle for a day, and records its uses in half of it', async t => {
  const { issuer, clock, options } = setUp({ maxLiveKeys: 1 })
  const { key, text } = await newKey(issuer, [])
  clock.advance(DAY / 2)
  must(await issuer.authenticateKey(text, 'user'))
  t.equal((await options.keys.find(key.id))?.lastUsedAt, clock.now(), 'the use is written at once')
  clock.advance(DAY - 1)
  const request = { ...USER, scopes: [] }
  t.match(await issuer.createKey(request), { code: 'policy_blocked', details: { rule: 'max_live_keys' } })
  clock.advance(1)
  must(await issuer.createKey(request))
  t.match(await issuer.authenticateKey(text, 'user'), { ok: false, reason: 'revoked' })
})
