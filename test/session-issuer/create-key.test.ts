import { race } from '@gatewright/kernel/testing'
import { keyPattern } from '@gatewright/session-issuer'
import t from 'tap'
import { DAY, must, newKey, newSession, setUp, USER } from './fixtures.ts'

t.test('a key below holds no more than its maker and ends no later', async t => {
  const { issuer, clock } = setUp()
  const root = await newKey(issuer, ['a.read'], { expiresAt: clock.now() + DAY })
  t.match(await issuer.createKey({ ...USER, parent: root.key, scopes: ['a.read', 'b.read'] }), {
    code: 'insufficient_scope',
    details: { scope: ['b.read'] },
  })
  const child = await newKey(issuer, ['a.read'], { parent: root.key, expiresAt: clock.now() + 2 * DAY })
  t.match(child.key, { expiresAt: clock.now() + DAY, parentId: root.key.id, ancestry: [root.key.id] })
})

t.test('a parent that has changed, ended, or is of another account or surface makes no key', async t => {
  const { issuer, clock } = setUp()
  const root = await newKey(issuer, ['a.read'], { expiresAt: clock.now() + DAY })
  const session = await newSession(issuer, root.key)
  const attempts = [
    { parent: { ...root.key, version: 2 } },
    { parent: root.key, accountId: 'else' },
    { parent: root.key, surface: 'partner' as const },
  ]
  for (const more of attempts) {
    t.match(await issuer.createKey({ ...USER, scopes: [], ...more }), { code: 'unauthorized' })
  }
  clock.advance(DAY)
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: session }), { code: 'unauthorized' })
})

t.test('the account and the user of a key must be texts that every store keeps as they are', async t => {
  const { issuer } = setUp()
  for (const bad of ['acc\ud83d', 'acc\ude00\ud83d', 'acc\0']) {
    for (const owner of [{ accountId: bad }, { userId: bad }]) {
      const refused = { code: 'invalid_request', status: 400, field: Object.keys(owner)[0] }
      t.match(await issuer.createKey({ ...USER, scopes: [], ...owner }), refused)
    }
  }
})

t.test('keys and policies stand at most so deep', async t => {
  const { issuer } = setUp()
  let { key } = await newKey(issuer, [])
  for (let depth = 0; depth < 8; depth++) key = (await newKey(issuer, [], { parent: key })).key
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: key }), { details: { rule: 'max_depth' } })
  let { key: bound } = await newKey(issuer, [], { policy: {} })
  for (let n = 1; n < 16; n++) bound = must(await issuer.changeKey(bound, bound.id, { policy: {} }))
  t.match(await issuer.changeKey(bound, bound.id, { policy: {} }), { details: { rule: 'max_depth' } })
})

t.test('at the cap a new root retires the root unused for longest, with its sessions', async t => {
  const { issuer, clock } = setUp({ maxLiveKeys: 2 })
  const idle = await newKey(issuer, ['a.read'])
  const busy = await newKey(issuer, ['a.read'])
  const session = await newSession(issuer, idle.key, { ttlSeconds: 86_400 })
  clock.advance(DAY - 1)
  t.match(await issuer.createKey({ ...USER, scopes: [] }), {
    code: 'policy_blocked',
    status: 403,
    details: { rule: 'max_live_keys', limit: 2 },
  })
  must(await issuer.authenticateKey(busy.text, 'user'))
  clock.advance(1)
  await newKey(issuer, [])
  t.match(await issuer.authenticateKey(idle.text, 'user'), { code: 'unauthorized', reason: 'revoked' })
  t.equal(await issuer.isCurrent(session), false)
  t.equal((await issuer.authenticateKey(busy.text, 'user')).ok, true)
})

t.test('a root is spared while a key below it is in use', async t => {
  const { issuer, clock } = setUp({ maxLiveKeys: 2 })
  const root = await newKey(issuer, ['a.read'])
  const child = await newKey(issuer, ['a.read'], { parent: root.key })
  clock.advance(3 * DAY)
  must(await issuer.authenticateKey(child.text, 'user'))
  t.match(await issuer.createKey({ ...USER, scopes: [] }), { details: { rule: 'max_live_keys' } })
})

t.test('nothing is retired for a key that is no root, nor for a partner', async t => {
  const { issuer, clock } = setUp({ maxLiveKeys: 1 })
  const { key } = await newKey(issuer, [])
  const partner = { surface: 'partner', accountId: 'partner' } as const
  await newKey(issuer, [], partner)
  clock.advance(9 * DAY)
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: key }), { code: 'policy_blocked' })
  t.match(await issuer.createKey({ ...USER, ...partner, scopes: [] }), { code: 'policy_blocked' })
})

t.test('50 at once on one account: the cap holds and every text works', async t => {
  const { issuer } = setUp({ maxLiveKeys: 20 })
  const made = await race(50, () => issuer.createKey({ ...USER, scopes: [] }))
  const texts = made.flatMap(verdict => (verdict.ok ? [verdict.value.text] : []))
  t.equal(texts.length, 20)
  for (const text of texts) t.equal((await issuer.authenticateKey(text, 'user')).ok, true)
})

t.test('the published pattern finds keys in text, and nothing else', async t => {
  const { issuer } = setUp({ environment: 'live', keyPrefix: 'acme' })
  const { text } = await newKey(issuer, [])
  const found = `export KEY="${text}"; # gw_live_user_x ${text.replace('acme', 'gw')}`.match(
    keyPattern('acme'),
  )
  t.same(found, [text])
  for (const prefix of ['', 'A', '9a', 'a_b', 'x'.repeat(13)]) t.throws(() => keyPattern(prefix), /keyPrefix/)
})

t.test('whoever creates and revokes all day fills no memory and locks nobody out', async t => {
  const { issuer, options, clock } = setUp()
  const { key } = await newKey(issuer, [])
  for (let n = 0; n < 250; n++) {
    clock.advance(1)
    const made = await newKey(issuer, [], { parent: key, policy: { n } })
    must(await issuer.revokeKey(key, made.key.id))
  }
  const { keys } = await options.keys.load(USER.accountId)
  t.ok(keys.length <= 202, `${keys.length} rows`)
  t.equal(
    Math.min(...keys.slice(1).map(one => one.createdAt)) > key.createdAt + 40,
    true,
    'the oldest went first',
  )
  t.equal((await issuer.createKey({ ...USER, scopes: [] })).ok, true)
  for (const listed of must(await issuer.listKeys(key))) {
    if (listed.key.id !== key.id) t.equal(listed.policies.length, listed.key.policyIds.length)
  }
})
