import { FEED_START } from '@gatewright/kernel'
import { counterOwner } from '@gatewright/kernel/internal'
import t from 'tap'
import { must, newKey, newSession, setUp, USER } from '../fixtures.ts'

t.test('a change raises the version, ends the sessions of the key, and enters the feed', async t => {
  const { issuer, feed, clock } = setUp()
  const { key } = await newKey(issuer, ['a.read', 'b.read'])
  const session = await newSession(issuer, key)
  t.equal(await issuer.isCurrent(session), true)
  const changed = must(await issuer.changeKey(session, key.id, { scopes: ['a.read'] }))
  t.match(changed, { scopes: ['a.read'], version: 2 })
  t.equal(await issuer.isCurrent(session), false)
  t.match(feed.after(FEED_START, 10), [{ kind: 'key', id: key.id, version: 2, at: clock.now() }])
  t.match(await issuer.changeKey(session, key.id, { scopes: [] }), { code: 'unauthorized' })
})

t.test('a change to the rights that a key already has ends its sessions, and no others', async t => {
  const { issuer, feed, clock } = setUp()
  const { key } = await newKey(issuer, ['a.read', 'b.read'])
  const child = await newKey(issuer, ['a.read'], { parent: key })
  const [session, below] = [await newSession(issuer, key), await newSession(issuer, child.key)]
  clock.advance(1)
  const changed = must(await issuer.changeKey(session, key.id, { scopes: ['b.read', 'a.read'] }))
  t.same([changed.version, [...changed.scopes].sort()], [2, ['a.read', 'b.read']])
  t.equal(await issuer.isCurrent(session), false)
  t.equal(await issuer.isCurrent(below), true)
  t.match(feed.after(FEED_START, 10), [{ kind: 'key', id: key.id, version: 2, at: clock.now() }])
  const by = { by: 'session', keyId: key.id, sessionId: session.sessionId }
  t.match(await issuer.listAudit(key.accountId, 1), [{ action: 'key.change', target: key.id, ...by }])
})

t.test('a session narrows its own key and one above it, and widens neither', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read', 'b.read'])
  const child = await newKey(issuer, ['a.read', 'b.read'], { parent: root.key })
  const session = await newSession(issuer, child.key)
  t.match(must(await issuer.changeKey(session, root.key.id, { policy: { x: 1 } })).policyIds, { length: 1 })
  const again = must(await issuer.authenticateKey(child.text, 'user'))
  t.equal(again.policyIds.length, 1, 'a policy above binds what is below')
  must(await issuer.changeKey(again, root.key.id, { scopes: ['a.read'] }))
  const narrow = must(await issuer.authenticateKey(child.text, 'user'))
  t.same(narrow.scopes, ['a.read'])
  t.match(await issuer.changeKey(narrow, root.key.id, { scopes: ['a.read', 'b.read'] }), {
    code: 'insufficient_scope',
    details: { scope: ['b.read'] },
  })
})

t.test("a policy is added to the caller's own key, and replaces the policies of a key below", async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read'], { policy: { root: 1 } })
  const child = await newKey(issuer, ['a.read'], { parent: root.key, policy: { child: 1 } })
  const joined = must(await issuer.changeKey(child.key, child.key.id, { policy: { child: 2 } }))
  t.same(await issuer.policies(joined.policyIds), [{ root: 1 }, { child: 1 }, { child: 2 }])
  const replaced = must(await issuer.changeKey(root.key, child.key.id, { policy: { child: 3 } }))
  t.same(await issuer.policies(replaced.policyIds), [{ root: 1 }, { child: 3 }])
})

t.test('all policies that a key is given share their counters, and with nothing else', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read'], { policy: { root: 1 } })
  const child = await newKey(issuer, ['a.read'], { parent: root.key, policy: { child: 1 } })
  const session = await newSession(issuer, child.key, { policy: { session: 1 } })
  t.equal(new Set(session.policyIds.map(counterOwner)).size, 3)
  const joined = must(await issuer.changeKey(child.key, child.key.id, { policy: { child: 2 } }))
  const rotated = must(await issuer.rotateKey(joined, joined.id)).key
  const replaced = must(await issuer.changeKey(root.key, rotated.id, { policy: { child: 3 } }))
  const owners = [...joined.policyIds, ...replaced.policyIds].map(counterOwner)
  const [ofRoot, ofChild] = child.key.policyIds.map(counterOwner)
  t.same(owners, [ofRoot, ofChild, ofChild, ofRoot, ofChild])
  t.equal(new Set([...joined.policyIds, ...replaced.policyIds]).size, 4, 'and each has an id of its own')
})

t.test('a key below gets at most the rights of the keys between it and the caller', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read', 'b.read'])
  const middle = await newKey(issuer, ['a.read'], { parent: root.key })
  const leaf = await newKey(issuer, [], { parent: middle.key })
  t.match(await issuer.changeKey(root.key, leaf.key.id, { scopes: ['b.read'] }), {
    code: 'insufficient_scope',
    details: { scope: ['b.read'] },
  })
  t.same(must(await issuer.changeKey(root.key, leaf.key.id, { scopes: ['a.read'] })).scopes, ['a.read'])
})

t.test('a key cannot change a key with more rights, and sees nothing of other accounts', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read', 'b.read', 'keys.write'])
  const other = await newKey(issuer, ['a.read'])
  const child = await newKey(issuer, ['b.read'], { parent: root.key })
  const weak = await newSession(issuer, root.key, { scopes: ['keys.write'] })
  t.match(await issuer.changeKey(weak, child.key.id, { scopes: [] }), { code: 'insufficient_scope' })
  t.match(await issuer.changeKey(root.key, other.key.id, { scopes: [] }), {
    code: 'policy_blocked',
    details: { rule: 'key_authority' },
  })
  t.match(await issuer.changeKey(child.key, other.key.id, { scopes: [] }), { code: 'not_found' })
  const stranger = await newKey(issuer, ['a.read', 'b.read', 'keys.write'], { accountId: 'else' })
  for (const verdict of [
    await issuer.changeKey(stranger.key, root.key.id, { scopes: [] }),
    await issuer.revokeKey(stranger.key, root.key.id),
    await issuer.rotateKey(stranger.key, root.key.id),
    await issuer.revokeKey(root.key, 'no-such-key'),
  ]) {
    t.match(verdict, { code: 'not_found', status: 404 })
  }
})

t.test('a session with a policy of its own cannot free a key from that policy', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read', 'b.read'])
  const child = await newKey(issuer, ['a.read'], { parent: root.key })
  const bound = await newSession(issuer, root.key, { policy: { maxAuthAmountCents: 10 } })
  const changed = must(await issuer.changeKey(bound, child.key.id, { scopes: ['a.read', 'b.read'] }))
  t.same(await issuer.policies(changed.policyIds), [{ maxAuthAmountCents: 10 }])
  const made = await newKey(issuer, ['a.read'], { parent: bound, policy: { mine: true } })
  t.same(await issuer.policies(made.key.policyIds), [{ maxAuthAmountCents: 10 }, { mine: true }])
  t.equal(made.key.policyIds[0], bound.policyIds[0], 'the same counter, not a second one')
})

t.test(
  'revoking a key ends its sessions and all keys below, and revoking again returns the same',
  async t => {
    const { issuer, feed, clock } = setUp()
    const root = await newKey(issuer, ['a.read'])
    const child = await newKey(issuer, ['a.read'], { parent: root.key })
    const session = await newSession(issuer, child.key)
    const revoked = must(await issuer.revokeKey(root.key, root.key.id))
    t.equal(revoked.revokedAt, clock.now())
    t.equal(await issuer.isCurrent(session), false)
    t.same(
      feed.after(FEED_START, 10).map(entry => entry.id),
      [root.key.id, child.key.id],
    )
    clock.advance(5)
    t.match(await issuer.authenticateKey(child.text, 'user'), { code: 'unauthorized' })
    t.same(must(await issuer.revokeKey('operator', root.key.id)), revoked)
  },
)

t.test(
  'a root lists and revokes every key of its account, any other key only itself and those below',
  async t => {
    const { issuer, clock } = setUp()
    const one = await newKey(issuer, ['a.read'], { policy: { one: 1 } })
    clock.advance(1)
    const two = await newKey(issuer, ['a.read'])
    clock.advance(1)
    const child = await newKey(issuer, ['a.read'], { parent: one.key, policy: { child: 1 } })
    const ids = async (caller: typeof one.key) =>
      must(await issuer.listKeys(caller)).keys.map(({ key, policies }) => [key.id, policies])
    t.same(await ids(two.key), [
      [child.key.id, [{ child: 1 }]],
      [two.key.id, []],
      [one.key.id, [{ one: 1 }]],
    ])
    t.same(await ids(child.key), [[child.key.id, [{ child: 1 }]]])
    t.match(await issuer.revokeKey(child.key, two.key.id), { code: 'not_found' })
    must(await issuer.revokeKey(two.key, one.key.id))
    t.notMatch(JSON.stringify(must(await issuer.listKeys(two.key))), 'hmac')
  },
)

t.test('revoking an account ends its keys and its sessions, whichever key minted them', async t => {
  const { issuer } = setUp()
  const own = await newKey(issuer, ['a.read'])
  const partner = await newKey(issuer, ['a.read'], { surface: 'partner', accountId: 'partner' })
  const subject = { accountId: USER.accountId, userId: null, walletAddress: null }
  const mine = await newSession(issuer, own.key)
  const theirs = await newSession(issuer, partner.key, { subject })
  const other = await newSession(issuer, partner.key, { subject: { ...subject, accountId: 'else' } })
  t.same(await issuer.revokeAccount(USER.accountId), { keys: 1, sessions: 2 })
  t.equal(await issuer.isCurrent(mine), false)
  t.equal(await issuer.isCurrent(theirs), false)
  t.equal(await issuer.isCurrent(other), true)
  t.same(await issuer.revokeAccount(USER.accountId), { keys: 0, sessions: 0 })
})

t.test('denies a change by which a key below would have more than 16 policies', async t => {
  const { issuer } = setUp()
  let { key: root } = await newKey(issuer, [], { policy: {} })
  const { key: child } = await newKey(issuer, [], { parent: root, policy: {} })
  for (let n = 2; n < 16; n++) root = must(await issuer.changeKey(root, root.id, { policy: {} }))
  t.match(await issuer.changeKey(root, root.id, { policy: {} }), {
    code: 'policy_blocked',
    details: { rule: 'max_depth' },
  })
  must(await issuer.revokeKey(root, child.id))
  t.equal(must(await issuer.changeKey(root, root.id, { policy: {} })).policyIds.length, 16)
})

t.test('a session with a policy of its own adds that policy only where it loosens a key', async t => {
  const { issuer, options } = setUp()
  const root = await newKey(issuer, ['a.read', 'b.read'])
  const [narrowed, replaced] = [
    await newKey(issuer, ['a.read', 'b.read'], { parent: root.key }),
    await newKey(issuer, ['a.read'], { parent: root.key, policy: { own: 1 } }),
  ]
  const bound = await newSession(issuer, root.key, { policy: { ofSession: 1 } })
  t.same(must(await issuer.changeKey(bound, narrowed.key.id, { scopes: ['a.read'] })).policyIds, [])
  t.same(await options.keys.policies(bound.policyIds), [], 'it is not stored with a key that is not under it')
  const { policyIds } = must(await issuer.changeKey(bound, replaced.key.id, { policy: { own: 2 } }))
  t.same(await issuer.policies(policyIds), [{ ofSession: 1 }, { own: 2 }])
})

t.test('a policy of a key below can be replaced after policies were added to a key above', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, ['a.read'], { policy: { root: 1 } })
  const { key: child } = await newKey(issuer, ['a.read'], { parent: root, policy: { child: 1 } })
  const changed = must(await issuer.changeKey(root, root.id, { policy: { root: 2 } }))
  const replaced = must(await issuer.changeKey(changed, child.id, { policy: { child: 2 } }))
  t.same(await issuer.policies(replaced.policyIds), [{ root: 1 }, { root: 2 }, { child: 2 }])
  t.equal(replaced.inheritedPolicies, 2)
})

t.test('a change of a key ends no session of a key below without scopes', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, ['a.read'])
  const { key: child } = await newKey(issuer, [], { parent: root })
  const session = await newSession(issuer, child)
  must(await issuer.changeKey(root, root.id, { scopes: [] }))
  t.equal(await issuer.isCurrent(session), true)
})

t.test('denies the change of a key that has ended', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, [])
  const { key: child } = await newKey(issuer, [], { parent: root })
  must(await issuer.revokeKey(root, child.id))
  for (const caller of [root, 'operator'] as const)
    t.match(await issuer.changeKey(caller, child.id, { scopes: [] }), { code: 'not_found' })
  await t.rejects(issuer.changeKey(root, root.id, { scope: [] } as never), TypeError)
})
