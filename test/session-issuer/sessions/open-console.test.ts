// A console: a session of an account's wallet under a key that nobody can present.
import assert from 'node:assert/strict'
import type { Session } from '@gatewright/kernel'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { must, newKey, newSession, OWNER, setUp, USER } from '../fixtures.ts'

const MINUTE = 60_000
const SCOPES = ['a.read', 'keys.write', 'sessions.write']
const CAP = { maxAuthAmountCents: 0 }
const open = async (issuer: Issuer, more: object = {}): Promise<Session> =>
  must(await issuer.openConsole({ ...OWNER, scopes: SCOPES, policy: CAP, ttlSeconds: 3600, ...more })).session
const keyOf = async (issuer: Issuer, session: Session): Promise<ApiKey> => {
  const { keys: listed } = must(await issuer.listKeys(session))
  return listed.find(({ key }) => key.id === session.keyId)?.key as ApiKey
}
const OUTSIDE = { code: 'policy_blocked', details: { rule: 'key_authority' } }

t.test(
  'is a session with the given scopes, policy and life, under a key that is listed as a console',
  async t => {
    const { issuer, clock } = setUp()
    const session = await open(issuer)
    t.match(session, { ...USER, scopes: SCOPES, expiresAt: clock.now() + 3600_000 })
    t.same(await issuer.policies(session.policyIds), [CAP])
    const key = await keyOf(issuer, session)
    t.match(key, { console: true, createdBy: null, ancestry: [], expiresAt: session.expiresAt })
    t.equal((await newKey(issuer, [])).key.console, false)
  },
)

t.test('lives 900 seconds by default, and no longer or shorter than sessions may', async t => {
  const { issuer } = setUp({ maxSessionTtlSeconds: 1800 })
  const { session } = must(await issuer.openConsole({ ...OWNER, scopes: [] }))
  t.equal(session.expiresAt - session.issuedAt, 900_000)
  for (const ttlSeconds of [59, 1801, 60.5, NaN])
    t.match(await issuer.openConsole({ ...OWNER, scopes: [], ttlSeconds }), {
      code: 'invalid_request',
      field: 'ttlSeconds',
    })
  t.match(await issuer.openConsole({ ...OWNER, accountId: 'a\u0000', scopes: [] }), {
    code: 'invalid_request',
    field: 'accountId',
  })
  await t.rejects(issuer.openConsole({ ...OWNER, scopes: [], parent: 1 } as never), TypeError)
})

t.test('accepts no text as the key of a console', async t => {
  const { issuer, options } = setUp()
  const { key, text } = await newKey(issuer, [])
  const stored = await options.keys.find(key.id)
  if (!stored) throw new Error('the key is not stored')
  const { revision } = await options.keys.load(OWNER.accountId)
  // As if somebody had the text that was thrown away.
  await options.keys.commit(OWNER.accountId, revision, {
    keys: [{ ...stored, console: true }],
    policies: [],
    feed: [],
  })
  t.match(await issuer.authenticateKey(text, 'user'), { code: 'unauthorized', reason: 'no such key' })
})

t.test('a key that was stored before consoles existed is not a console', async t => {
  const { readKey } = (await import(
    `${process.cwd()}/packages/session-issuer/dist/storage/parse-records.js`
  )) as { readKey(value: unknown): ApiKey }
  const { issuer, options } = setUp()
  const { key } = await newKey(issuer, [])
  const { console: _console, ...old } = (await options.keys.find(key.id)) as ApiKey
  t.equal(readKey(old).console, false)
  t.throws(() => readKey({ ...old, console: 'yes' }), { code: 'ERR_STORE_REPLY' })
})

t.test('ends with its session, and its session with it', async t => {
  const { issuer, clock } = setUp()
  const own = await open(issuer)
  t.equal(must(await issuer.endSession(own, 'current')), 1)
  const other = await open(issuer)
  t.match(await keyOf(issuer, other), { revokedAt: null })
  const { keys: listed } = must(await issuer.listKeys(other))
  t.match(listed.find(({ key }) => key.id === own.keyId)?.key, { console: true, revokedAt: clock.now() })
  must(await issuer.revokeKey(other, other.keyId))
  t.equal(await issuer.isCurrent(other), false)
  const last = await open(issuer)
  const minted = await newSession(issuer, last, { scopes: ['a.read'] })
  t.equal(must(await issuer.endSession(last, minted.sessionId)), 1)
  t.match(await keyOf(issuer, last), { revokedAt: null }, 'a session that it minted ends alone')
  t.match(await issuer.endSessionWithKeys(last, 'current'), { ok: true, value: { sessions: 1, keys: 1 } })
  t.match(await issuer.listKeys(last), { code: 'unauthorized' })
  const late = await open(issuer)
  clock.advance(60 * MINUTE)
  t.match(await issuer.listKeys(late), { code: 'unauthorized' })
  t.match(await issuer.issueSession(late), { code: 'unauthorized' })
})

t.test('lists, narrows and revokes every key of its account, and ends every session', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read', 'b.write'])
  const below = await newKey(issuer, ['b.write'], { parent: root.key })
  const working = await newSession(issuer, root.key)
  const stranger = await newKey(issuer, ['b.write'], { accountId: 'other' })
  const session = await open(issuer)
  t.same(
    must(await issuer.visibleKeys(session))
      .map(({ id }) => id)
      .toSorted(),
    [session.keyId, root.key.id, below.key.id].toSorted(),
  )
  t.equal(must(await issuer.endSession(session, working.sessionId)), 1)
  const narrowed = must(
    await issuer.changeKey(session, below.key.id, { scopes: [], policy: { dailySpendCapCents: 5 } }),
  )
  t.same([narrowed.scopes, await issuer.policies(narrowed.policyIds)], [[], [{ dailySpendCapCents: 5 }]])
  t.match(await issuer.changeKey(session, below.key.id, { scopes: ['b.write'] }), {
    code: 'insufficient_scope',
  })
  must(await issuer.changeKey(session, root.key.id, { policy: { dailySpendCapCents: 7 } }))
  const again = must(await issuer.changeKey(session, root.key.id, { policy: {} }))
  t.equal(again.policyIds.length, 2, 'a policy is added, none replaced')
  must(await issuer.revokeKey(session, root.key.id))
  t.match(await issuer.authenticateKey(below.text, 'user'), { reason: 'revoked' })
  t.match(await issuer.revokeKey(session, stranger.key.id), { code: 'not_found' })
  t.match(await issuer.changeKey(session, stranger.key.id, { scopes: [] }), { code: 'not_found' })
})

t.test('creates and rotates no key, and is neither changed nor rotated by anyone', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read'])
  const session = await open(issuer)
  const minted = await newSession(issuer, session)
  for (const by of [session, minted]) {
    t.match(await issuer.createKey({ ...USER, scopes: [], parent: by }), OUTSIDE)
    t.match(await issuer.rotateKey(by, root.key.id), OUTSIDE)
  }
  for (const by of [session, root.key, 'operator', { walletOf: OWNER.accountId }] as const)
    t.match(await issuer.rotateKey(by, session.keyId), OUTSIDE)
  for (const by of [session, root.key, 'operator'] as const)
    t.match(await issuer.changeKey(by, session.keyId, { scopes: [] }), OUTSIDE)
  t.equal(await issuer.isCurrent(session), true)
})

t.test('takes no key slot, and none is taken from it', async t => {
  const { issuer, clock } = setUp({ maxLiveKeys: 2 })
  const consoles: Session[] = []
  for (let n = 0; n < 5; n++) {
    consoles.push(await open(issuer))
    clock.advance(1000)
  }
  const first = await newKey(issuer, [])
  await newKey(issuer, [], { parent: first.key })
  const second = await newKey(issuer, [])
  for (const each of consoles) t.equal(await issuer.isCurrent(each), true)
  t.match(await issuer.createKey({ ...USER, scopes: [] }), { code: 'policy_blocked' })
  clock.advance(1000)
  consoles.push(await open(issuer))
  const current = await Promise.all(consoles.map(each => issuer.isCurrent(each)))
  t.same(current, [false, true, true, true, true, true], 'the one that was opened first has ended')
  for (const { text } of [first, second])
    t.match(await issuer.authenticateKey(text, 'user'), { ok: true }, 'no console ends a key')
  // The rows of one instant have no order.
  const rows = (await issuer.listAudit(OWNER.accountId, 3)).map(({ action, by }) => `${action} by ${by}`)
  t.same(rows.toSorted(), ['key.create by wallet', 'key.retire by wallet', 'session.create by key'])
})

t.test('ended consoles displace no ended key from the list', async t => {
  const { issuer, clock } = setUp()
  const root = await newKey(issuer, [])
  const before = await newKey(issuer, [])
  must(await issuer.revokeKey(root.key, before.key.id))
  clock.advance(1000)
  // 200 ended keys stay.
  for (let n = 0; n < 202; n++) must(await issuer.endSession(await open(issuer), 'current'))
  const after = await newKey(issuer, [])
  must(await issuer.revokeKey(root.key, after.key.id))
  must(await issuer.endSession(await open(issuer), 'current'))
  const session = await open(issuer)
  const listed = must(await issuer.visibleKeys(session))
  const ended = listed.filter(({ revokedAt, console }) => revokedAt !== null && !console)
  t.equal(ended.length, 2)
})

t.test('nothing that a console does gives anybody a right or a credential that outlives it', async () => {
  const step = fc.record({
    does: fc.constantFrom('mint', 'create', 'rotate', 'change', 'end', 'wait'),
    by: fc.nat(),
    on: fc.nat(),
    scopes: fc.subarray(['a.read', 'b.write']),
    policy: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
      const { issuer, clock, options } = setUp()
      const root = await newKey(issuer, ['a.read', 'b.write'])
      const below = await newKey(issuer, ['a.read'], { parent: root.key, policy: {} })
      const session = await open(issuer, { scopes: ['a.read'] })
      const held = [session]
      const load = async () =>
        new Map((await options.keys.load(OWNER.accountId)).keys.map(key => [key.id, key]))
      let before = await load()
      for (const { does, by, on, scopes, policy } of steps) {
        const who = held[by % held.length] as Session
        const keyId = [root.key.id, below.key.id, session.keyId][on % 3] as string
        if (does === 'wait') clock.advance(10 * MINUTE)
        else if (does === 'mint') {
          const minted = await issuer.issueSession(who, { scopes })
          if (minted.ok) held.push(minted.value.session)
        } else if (does === 'create')
          assert.equal((await issuer.createKey({ ...USER, scopes, parent: who })).ok, false)
        else if (does === 'rotate') assert.equal((await issuer.rotateKey(who, keyId)).ok, false)
        else if (does === 'change')
          await issuer.changeKey(who, keyId, { scopes, ...(policy ? { policy: {} } : {}) })
        else await issuer.endSession(who, (held[on % held.length] as Session).sessionId)
        const after = await load()
        assert.deepEqual([...after.keys()], [...before.keys()], 'no key was added')
        for (const [id, key] of after) {
          const was = before.get(id) as ApiKey
          assert.ok(
            key.scopes.every(scope => was.scopes.includes(scope)),
            'no scope was added',
          )
          assert.ok(
            was.policyIds.every(one => key.policyIds.includes(one)),
            'no policy was taken away',
          )
          assert.ok(was.revokedAt === null || key.revokedAt !== null, 'nothing came back to life')
        }
        before = after
      }
      clock.advance(60 * MINUTE)
      for (const one of held)
        assert.equal(clock.now() < one.expiresAt && (await issuer.isCurrent(one)), false)
    }),
    { numRuns: randomCases(200) },
  )
})
