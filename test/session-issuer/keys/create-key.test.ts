import assert from 'node:assert/strict'
import { race } from '@gatewright/kernel/testing'
import { keyPattern, type Issuer, type KeyRecord } from '@gatewright/session-issuer'
import type { CreatedKey } from '#packages/session-issuer/dist/keys/create-key.js'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { DAY, must, newKey, newSession, setUp, USER } from '../fixtures.ts'

t.test('a key below has at most the scopes of its creator and ends no later', async t => {
  const { issuer, clock } = setUp()
  const root = await newKey(issuer, ['a.read'], { expiresAt: clock.now() + DAY })
  t.match(await issuer.createKey({ ...USER, parent: root.key, scopes: ['a.read', 'b.read'] }), {
    code: 'insufficient_scope',
    details: { scope: ['b.read'] },
  })
  const child = await newKey(issuer, ['a.read'], { parent: root.key, expiresAt: clock.now() + 2 * DAY })
  t.match(child.key, { expiresAt: clock.now() + DAY, parentId: root.key.id, ancestry: [root.key.id] })
})

t.test(
  'a key keeps the policy of the session that created it, whichever of its keys are deleted',
  async t => {
    const { issuer, clock } = setUp()
    const root = await newKey(issuer, ['a.read'])
    const session = await newSession(issuer, root.key, { policy: { of: 'the session' } })
    const [first, second] = [
      await newKey(issuer, ['a.read'], { parent: session }),
      await newKey(issuer, ['a.read'], { parent: session }),
    ]
    must(await issuer.revokeKey(root.key, first.key.id))
    clock.advance(30 * DAY)
    await issuer.maintain()
    const keys = must(await issuer.listKeys(root.key)).keys.map(({ key, policies }) => [key.id, policies])
    t.same(Object.fromEntries(keys), { [root.key.id]: [], [second.key.id]: [{ of: 'the session' }] })
    t.same(await issuer.policies(second.key.policyIds), [{ of: 'the session' }])
  },
)

t.test('denies a parent that has changed, has ended, or belongs to another account or surface', async t => {
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

t.test('denies a session of a user whose partner minted it to create keys of the partner', async t => {
  const { issuer } = setUp()
  const owner = { surface: 'partner', accountId: 'partner', userId: null } as const
  const partner = await newKey(issuer, ['a.read'], owner)
  const subject = { accountId: 'acc', userId: 'u', walletAddress: null }
  const session = await newSession(issuer, partner.key, { subject })
  for (const accountId of ['partner', 'acc']) {
    const request = { ...USER, ...owner, accountId, parent: session, scopes: ['a.read'] }
    t.match(await issuer.createKey(request), { ok: false, code: 'unauthorized' })
  }
})

t.test('denies account and user ids that some store cannot store unchanged', async t => {
  const { issuer } = setUp()
  for (const bad of ['acc\ud83d', 'acc\ude00\ud83d', 'acc\0']) {
    for (const owner of [{ accountId: bad }, { userId: bad }]) {
      const denial = { code: 'invalid_request', status: 400, field: Object.keys(owner)[0] }
      t.match(await issuer.createKey({ ...USER, scopes: [], ...owner }), denial)
    }
  }
})

t.test('denies key chains and policy chains beyond their limits', async t => {
  const { issuer } = setUp()
  let { key } = await newKey(issuer, [])
  for (let depth = 0; depth < 8; depth++) key = (await newKey(issuer, [], { parent: key })).key
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: key }), { details: { rule: 'max_depth' } })
  let { key: bound } = await newKey(issuer, [], { policy: {} })
  for (let n = 1; n < 16; n++) bound = must(await issuer.changeKey(bound, bound.id, { policy: {} }))
  t.match(await issuer.changeKey(bound, bound.id, { policy: {} }), { details: { rule: 'max_depth' } })
  const below = { ...USER, scopes: [], parent: bound }
  t.equal((await issuer.createKey(below)).ok, true)
  t.match(await issuer.createKey({ ...below, policy: {} }), { details: { rule: 'max_depth' } })
  await t.rejects(issuer.createKey({ ...below, scope: [] } as never), TypeError)
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

const works = async (issuer: Issuer, key: CreatedKey): Promise<boolean> =>
  (await issuer.authenticateKey(key.text, 'user')).ok

t.test(
  'a key has at most its quota of live keys below it, at any depth, and the denial names the limit',
  async t => {
    const { issuer } = setUp({ maxKeysBelow: 3 })
    const root = await newKey(issuer, [])
    const delegate = await newKey(issuer, [], { parent: root.key })
    for (let n = 0; n < 2; n++) await newKey(issuer, [], { parent: delegate.key })
    const quota = { rule: 'max_live_keys', limit: 3, limitOf: 'subtree' }
    for (const parent of [root.key, delegate.key, await newSession(issuer, delegate.key)]) {
      const denial = await issuer.createKey({ ...USER, scopes: [], parent })
      const message = /^a key above the new one has 3 live keys below it/
      t.match(denial, { code: 'policy_blocked', status: 403, message, details: quota })
    }
    t.equal((await issuer.createKey({ ...USER, scopes: [] })).ok, true, 'the wallet still gets a root')
    must(await issuer.revokeKey(root.key, delegate.key.id))
    await newKey(issuer, [], { parent: root.key })
  },
)

t.test('a key and its successors count once against the quota', async t => {
  const { issuer } = setUp({ maxKeysBelow: 1 })
  const root = await newKey(issuer, [])
  const child = await newKey(issuer, [], { parent: root.key })
  must(await issuer.rotateKey(child.key, child.key.id, { overlapSeconds: 60 }))
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: root.key }), {
    details: { limitOf: 'subtree' },
  })
})

t.test('by default a key has 20 live keys below it, and an account 50', async t => {
  const { issuer } = setUp()
  for (const limit of [20, 20]) {
    const root = await newKey(issuer, [])
    for (let n = 0; n < limit; n++) await newKey(issuer, [], { parent: root.key })
    t.match(await issuer.createKey({ ...USER, scopes: [], parent: root.key }), { details: { limit } })
  }
  for (let n = 0; n < 8; n++) await newKey(issuer, [])
  const third = await newKey(issuer, [])
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: third.key }), {
    code: 'policy_blocked',
    details: { rule: 'max_live_keys', limit: 50, limitOf: 'account' },
  })
})

t.test('keys below a root are retired for a new root, however recently they were used', async t => {
  const { issuer, clock } = setUp({ maxLiveKeys: 4 })
  const root = await newKey(issuer, ['a.read'])
  const idle = await newKey(issuer, ['a.read'], { parent: root.key })
  const leaf = await newKey(issuer, ['a.read'], { parent: idle.key })
  const busy = await newKey(issuer, ['a.read'], { parent: root.key })
  clock.advance(1000)
  must(await issuer.authenticateKey(busy.text, 'user'))
  const session = await newSession(issuer, leaf.key)
  await newKey(issuer, [])
  t.same(await Promise.all([root, idle, leaf, busy].map(key => works(issuer, key))), [
    true,
    true,
    false,
    true,
  ])
  t.equal(await issuer.isCurrent(session), false)
  await newKey(issuer, [])
  await newKey(issuer, [])
  t.same(await Promise.all([root, idle, leaf, busy].map(key => works(issuer, key))), [
    true,
    false,
    false,
    false,
  ])
  t.match(
    await issuer.createKey({ ...USER, scopes: [] }),
    { details: { limitOf: 'account' } },
    'four fresh roots',
  )
})

t.test('at the cap the keys below the root unused for longest are retired first, then that root', async t => {
  const { issuer, clock } = setUp({ maxLiveKeys: 4 })
  const old = await newKey(issuer, [])
  const younger = await newKey(issuer, [])
  const below = await newKey(issuer, [], { parent: old.key })
  const other = await newKey(issuer, [], { parent: younger.key })
  clock.advance(2 * DAY)
  must(await issuer.authenticateKey(younger.text, 'user'))
  for (const gone of [below, old, other]) {
    await newKey(issuer, [])
    t.equal(await works(issuer, gone), false)
  }
  t.equal(await works(issuer, younger), true)
})

t.test('a new wallet proof gets its key whatever a delegate does, and no cap is exceeded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ by: fc.nat(), hours: fc.nat({ max: 30 }), uses: fc.boolean() }), {
        maxLength: 40,
      }),
      async steps => {
        const { issuer, clock, options } = setUp({ maxLiveKeys: 8, maxKeysBelow: 4 })
        const texts = [(await newKey(issuer, [])).text]
        const live = async (): Promise<readonly KeyRecord[]> =>
          (await options.keys.load(USER.accountId)).keys.filter(key => key.revokedAt === null)
        for (const { by, hours, uses } of steps) {
          clock.advance(hours * 3_600_000)
          const parent = await issuer.authenticateKey(texts[by % texts.length], 'user')
          if (!parent.ok) continue
          await issuer.flush()
          if (uses) continue
          const made = await issuer.createKey({ ...USER, scopes: [], parent: parent.value })
          if (made.ok) texts.push(made.value.text)
          const before = await live()
          const fresh = before.filter(key => key.ancestry.length === 0 && lastUse(key) > clock.now() - DAY)
          const root = await issuer.createKey({ ...USER, scopes: [] })
          assert.equal(root.ok, fresh.length < 8, 'denied only where every slot is a root used lately')
          if (root.ok) texts.push(root.value.text)
          const after = await live()
          assert.ok(
            fresh.every(key => after.some(({ id }) => id === key.id)),
            'a root used lately stays',
          )
          assert.ok(after.length <= 8)
          for (const { id } of after) assert.ok(after.filter(key => key.ancestry.includes(id)).length <= 4)
        }
      },
    ),
    { numRuns: randomCases(200) },
  )
})

const lastUse = ({ lastUsedAt, createdAt }: KeyRecord): number => Math.max(lastUsedAt ?? 0, createdAt)

t.test('retires nothing for a key below another, nor for a partner key', async t => {
  const { issuer, clock } = setUp({ maxLiveKeys: 1 })
  const { key } = await newKey(issuer, [])
  const partner = { surface: 'partner', accountId: 'partner' } as const
  await newKey(issuer, [], partner)
  clock.advance(9 * DAY)
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: key }), { code: 'policy_blocked' })
  t.match(await issuer.createKey({ ...USER, ...partner, scopes: [] }), { code: 'policy_blocked' })
})

t.test('creates 50 keys at once on one account: the cap holds and every returned text works', async t => {
  const { issuer } = setUp({ maxLiveKeys: 20 })
  const made = await race(50, () => issuer.createKey({ ...USER, scopes: [] }))
  const texts = made.flatMap(verdict => (verdict.ok ? [verdict.value.text] : []))
  t.equal(texts.length, 20)
  for (const text of texts) t.equal((await issuer.authenticateKey(text, 'user')).ok, true)
})

t.test('keyPattern finds keys in text, and nothing else', async t => {
  const { issuer } = setUp({ environment: 'live', keyPrefix: 'acme' })
  const { text } = await newKey(issuer, [])
  const found = `export KEY="${text}"; # gw_live_user_x ${text.replace('acme', 'gw')}`.match(
    keyPattern('acme'),
  )
  t.same(found, [text])
  for (const prefix of ['', 'A', '9a', 'a_b', 'x'.repeat(13)]) t.throws(() => keyPattern(prefix), /keyPrefix/)
})

t.test(
  'creating and revoking keys all day keeps the stored keys bounded and other callers working',
  async t => {
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
    for (const listed of must(await issuer.listKeys(key)).keys) {
      if (listed.key.id !== key.id) t.equal(listed.policies.length, listed.key.policyIds.length)
    }
  },
)

t.test('at the cap the root that was made first stays if it was used last', async t => {
  const { issuer, clock } = setUp({ maxLiveKeys: 2 })
  const first = await newKey(issuer, [])
  clock.advance(1)
  const second = await newKey(issuer, [])
  clock.advance(1)
  must(await issuer.authenticateKey(first.text, 'user'))
  clock.advance(DAY)
  await newKey(issuer, [])
  t.same([await works(issuer, first), await works(issuer, second)], [true, false])
})

t.test('at the cap a root stays of which only the key before its rotation was used lately', async t => {
  const { issuer, clock } = setUp({ maxLiveKeys: 1 })
  const root = await newKey(issuer, [])
  must(await issuer.rotateKey(root.key, root.key.id, { overlapSeconds: 604_800 }))
  clock.advance(DAY)
  must(await issuer.authenticateKey(root.text, 'user'))
  clock.advance(DAY - 1)
  t.match(await issuer.createKey({ ...USER, scopes: [] }), { details: { limitOf: 'account' } })
  clock.advance(1)
  t.equal((await issuer.createKey({ ...USER, scopes: [] })).ok, true)
})

t.test('a caller without policies of a session causes no read of policies', async t => {
  const { issuer, options } = setUp()
  const bound = await newKey(issuer, [], { policy: {} })
  const free = await newSession(issuer, (await newKey(issuer, [])).key)
  Object.assign(options.sessions, { policies: () => t.fail('policies were read') })
  for (const parent of [bound.key, free]) await newKey(issuer, [], { parent })
})
