import { FEED_START } from '@gatewright/kernel'
import { endsSession } from '@gatewright/kernel/internal'
import t from 'tap'
import { must, newKey, newSession, OWNER, setUp, USER } from '../fixtures.ts'

t.test('a successor has the rights, policies, place in the chain and end of the key it replaces', async t => {
  const { issuer, clock } = setUp()
  const root = await newKey(issuer, ['a.read'], { policy: { root: 1 }, expiresAt: clock.now() + 9_000_000 })
  const child = await newKey(issuer, ['a.read'], { parent: root.key })
  const { key, text } = must(await issuer.rotateKey(root.key, root.key.id, { overlapSeconds: 60 }))
  for (const name of ['scopes', 'policyIds', 'lineageId', 'ancestry', 'expiresAt', 'surface'] as const) {
    t.same(key[name], root.key[name], name)
  }
  t.match(key, { version: 1, lastUsedAt: null })
  const successor = must(await issuer.authenticateKey(text, 'user'))
  t.ok(must(await issuer.visibleKeys(successor)).some(({ id }) => id === child.key.id))
  t.equal(must(await issuer.changeKey(successor, child.key.id, { scopes: [] })).version, 2)
})

t.test('the old key works until the overlap ends, and its sessions with it', async t => {
  const { issuer, clock, feed } = setUp()
  const old = await newKey(issuer, ['a.read'])
  const before = await newSession(issuer, old.key, { ttlSeconds: 86_400 })
  must(await issuer.rotateKey(old.key, old.key.id, { overlapSeconds: 100 }))
  const still = must(await issuer.authenticateKey(old.text, 'user'))
  const after = await newSession(issuer, still, { ttlSeconds: 86_400 })
  t.equal(after.expiresAt, clock.now() + 100_000)
  clock.advance(99_999)
  t.equal(await issuer.isCurrent(before), true)
  const [entry] = feed.after(FEED_START, 10)
  t.match(entry, { version: 2, at: clock.now() - 99_999, from: clock.now() + 1 })
  t.equal(endsSession(entry!, before, clock.now()), false)
  clock.advance(1)
  t.match(await issuer.authenticateKey(old.text, 'user'), { code: 'unauthorized' })
  t.equal(await issuer.isCurrent(before), false)
  t.equal(endsSession(entry!, before, clock.now()), true)
})

t.test('without an overlap the old key and its sessions end at once', async t => {
  const { issuer, feed } = setUp()
  const old = await newKey(issuer, ['a.read'])
  const session = await newSession(issuer, old.key)
  const { key } = must(await issuer.rotateKey(old.key, old.key.id))
  t.match(await issuer.authenticateKey(old.text, 'user'), { code: 'unauthorized', reason: 'revoked' })
  t.equal(await issuer.isCurrent(session), false)
  t.match(feed.after(FEED_START, 10), [{ id: old.key.id, version: 2 }])
  t.equal(must(await issuer.visibleKeys(key)).find(({ id }) => id === old.key.id)?.successorId, key.id)
})

t.test('rotating again replaces an unused successor and denies a used one', async t => {
  const { issuer, clock } = setUp()
  const old = await newKey(issuer, ['a.read'], { expiresAt: clock.now() + 999_000 })
  const lost = must(await issuer.rotateKey(old.key, old.key.id, { overlapSeconds: 60 }))
  const again = must(await issuer.rotateKey(old.key, old.key.id, { overlapSeconds: 60 }))
  t.match(await issuer.authenticateKey(lost.text, 'user'), { code: 'unauthorized' })
  t.equal(must(await issuer.authenticateKey(again.text, 'user')).expiresAt, old.key.expiresAt)
  const now = must(await issuer.authenticateKey(old.text, 'user'))
  t.match(await issuer.rotateKey(now, old.key.id), { details: { rule: 'already_rotated' } })
})

t.test('at most one predecessor overlaps, and a rotated key counts once against the cap', async t => {
  const { issuer } = setUp({ maxLiveKeys: 1 })
  const first = await newKey(issuer, ['a.read'])
  const second = must(await issuer.rotateKey(first.key, first.key.id, { overlapSeconds: 600 }))
  must(await issuer.authenticateKey(second.text, 'user'))
  const third = must(await issuer.rotateKey(second.key, second.key.id, { overlapSeconds: 600 }))
  t.match(await issuer.authenticateKey(first.text, 'user'), { code: 'unauthorized' })
  for (const { text } of [second, third]) t.equal((await issuer.authenticateKey(text, 'user')).ok, true)
})

t.test('ending the newest key of a lineage ends its predecessor and all keys below', async t => {
  const { issuer } = setUp()
  const old = await newKey(issuer, ['a.read'])
  const child = await newKey(issuer, ['a.read'], { parent: old.key })
  const { key } = must(await issuer.rotateKey(old.key, old.key.id, { overlapSeconds: 600 }))
  must(await issuer.revokeKey(key, key.id))
  for (const { text } of [old, child]) {
    t.match(await issuer.authenticateKey(text, 'user'), { code: 'unauthorized' })
  }
})

t.test('ending the old key early leaves its successor and all keys below', async t => {
  const { issuer } = setUp()
  const old = await newKey(issuer, ['a.read'])
  const child = await newKey(issuer, ['a.read'], { parent: old.key })
  const { key, text } = must(await issuer.rotateKey(old.key, old.key.id, { overlapSeconds: 600 }))
  must(await issuer.revokeKey(key, old.key.id))
  t.match(await issuer.authenticateKey(old.text, 'user'), { code: 'unauthorized' })
  for (const one of [text, child.text]) t.equal((await issuer.authenticateKey(one, 'user')).ok, true)
})

t.test('denies rotation by a session of the key and by callers with fewer rights', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read', 'b.read'])
  const other = await newKey(issuer, ['a.read', 'b.read'])
  const child = await newKey(issuer, ['a.read'], { parent: root.key })
  const full = await newSession(issuer, root.key)
  const blocked = { code: 'policy_blocked', details: { rule: 'key_authority' } }
  t.match(await issuer.rotateKey(full, root.key.id), blocked, 'a session of the key')
  t.match(await issuer.rotateKey(root.key, other.key.id), blocked, 'another root')
  t.match(await issuer.rotateKey(child.key, root.key.id), blocked, 'a key below')
  t.match(await issuer.rotateKey(child.key, other.key.id), { code: 'not_found' }, 'a key it may not know')
  const narrow = await newSession(issuer, root.key, { scopes: ['b.read'] })
  t.match(await issuer.rotateKey(narrow, child.key.id), { code: 'insufficient_scope' })
  const bound = await newSession(issuer, root.key, { policy: { maxAuthAmountCents: 1 } })
  t.match(await issuer.rotateKey(bound, child.key.id), blocked, 'a policy that the key is not under')
  t.equal((await issuer.rotateKey(full, child.key.id)).ok, true)
})

t.test('denies an overlap outside 0 to 604800 s', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, [])
  for (const overlapSeconds of [-1, 604_801, 0.5, '60' as never]) {
    t.match(await issuer.rotateKey(key, key.id, { overlapSeconds }), { field: 'overlapSeconds' })
  }
  t.equal((await issuer.rotateKey(key, key.id, { overlapSeconds: 604_800 })).ok, true)
  await t.rejects(issuer.rotateKey(key, key.id, { overlap: 1 } as never), TypeError)
})

t.test('finds no unknown key to rotate, and names the key that rotated another in the audit row', async t => {
  const { issuer } = setUp()
  const { key: root } = await newKey(issuer, [])
  const { key: child } = await newKey(issuer, [], { parent: root })
  for (const by of ['operator', root, { walletOf: root.accountId }] as const)
    t.match(await issuer.rotateKey(by, 'no-such-key'), { code: 'not_found' })
  must(await issuer.rotateKey(root, child.id))
  const rows = await issuer.listAudit(root.accountId, 10)
  t.match(
    rows.find(({ action }) => action === 'key.rotate'),
    { by: 'key', keyId: root.id, target: child.id },
  )
})

t.test('the wallet rotates any user key of its account, and no other', async t => {
  const { issuer } = setUp()
  const wallet = { walletOf: OWNER.accountId }
  const root = await newKey(issuer, ['a.read'], { policy: { dailySpendCapCents: 5 } })
  const below = await newKey(issuer, ['a.read'], { parent: root.key })
  for (const made of [below, root]) {
    const successor = must(await issuer.rotateKey(wallet, made.key.id))
    const { scopes, policyIds, lineageId } = made.key
    t.match(successor.key, { scopes, policyIds, lineageId, rotatedBy: null })
    t.match(await issuer.authenticateKey(made.text, 'user'), { reason: 'revoked' })
    t.equal((await issuer.authenticateKey(successor.text, 'user')).ok, true)
    t.match(await issuer.rotateKey(wallet, made.key.id), { code: 'not_found' })
  }
  const rows = await issuer.listAudit(OWNER.accountId, 50)
  const rotations = rows.filter(({ action }) => action === 'key.rotate')
  t.match(rotations, [
    { by: 'wallet', keyId: null },
    { by: 'wallet', keyId: null },
  ])
  const stranger = await newKey(issuer, [], { accountId: 'other' })
  const partner = must(await issuer.createKey({ ...USER, surface: 'partner', scopes: [] }))
  for (const { key } of [stranger, partner])
    t.match(await issuer.rotateKey(wallet, key.id), { code: 'not_found' })
})
