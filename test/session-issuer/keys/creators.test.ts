// The keys that a session created can be found, and ended with it, even after the session was deleted.
import assert from 'node:assert/strict'
import type { Session } from '@gatewright/kernel'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { DAY, must, newKey, newSession, setUp, USER } from '../fixtures.ts'

const MINUTE = 60_000
const works = async (issuer: Issuer, text: string): Promise<boolean> =>
  (await issuer.authenticateKey(text, 'user')).ok

t.test('a key names the key and the sessions that created it, and a root names none', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read'])
  t.equal(root.key.createdBy, null)
  const byKey = await newKey(issuer, [], { parent: root.key })
  const { id: keyId, lineageId } = root.key
  t.same(byKey.key.createdBy, { keyId, lineageId, sessionIds: [] })
  const session = await newSession(issuer, root.key)
  const minted = await newSession(issuer, session)
  const bySession = await newKey(issuer, [], { parent: minted })
  const sessionIds = [session.sessionId, minted.sessionId]
  t.same(bySession.key.createdBy, { keyId, lineageId, sessionIds })
  const successor = must(await issuer.rotateKey(bySession.key, bySession.key.id))
  t.same(successor.key.createdBy, bySession.key.createdBy)
  t.equal(successor.key.rotatedBy, null, 'a key that rotates itself has no new holder')
  const taken = must(await issuer.rotateKey(minted, successor.key.id))
  t.same(taken.key.rotatedBy, { keyId, lineageId, sessionIds })
})

t.test('denies creating and rotating keys for a session that has ended in the store', async t => {
  const { issuer, clock } = setUp()
  const root = await newKey(issuer, ['a.read'])
  const child = await newKey(issuer, [], { parent: root.key })
  const session = await newSession(issuer, root.key)
  must(await issuer.endSession(root.key, session.sessionId))
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: session }), { code: 'unauthorized' })
  t.match(await issuer.rotateKey(session, child.key.id), { code: 'unauthorized' })
  const expiring = await newSession(issuer, root.key, { ttlSeconds: 60 })
  clock.advance(MINUTE - 1)
  await newKey(issuer, [], { parent: expiring })
  clock.advance(1)
  t.match(await issuer.createKey({ ...USER, scopes: [], parent: expiring }), { code: 'unauthorized' })
})

for (const [when, ms] of [
  ['live', 0],
  ['expired', 16 * MINUTE],
  ['collected', DAY],
] as const) {
  t.test(`ending a session with its keys ends all keys that it created, and no others: ${when}`, async t => {
    const { issuer, clock } = setUp()
    const root = await newKey(issuer, ['a.read'])
    const session = await newSession(issuer, root.key)
    const made = await newKey(issuer, ['a.read'], { parent: session })
    const below = await newKey(issuer, [], { parent: made.key })
    const minted = await newKey(issuer, [], { parent: await newSession(issuer, session) })
    const rotated = must(await issuer.rotateKey(minted.key, minted.key.id))
    const older = await newKey(issuer, [], { parent: root.key })
    const taken = must(await issuer.rotateKey(session, older.key.id))
    const kept = await newKey(issuer, [], { parent: await newSession(issuer, root.key) })
    const live = await newSession(issuer, made.key, { ttlSeconds: 86_400 })
    clock.advance(ms)
    await issuer.maintain()
    const ended = must(await issuer.endSessionWithKeys(root.key, session.sessionId))
    t.match(ended, { sessions: ms === 0 ? 2 : 0, keys: 4 })
    for (const { key } of [made, below, taken]) t.ok(ended.keyIds.includes(key.id))
    for (const { text } of [made, below, rotated, taken]) t.equal(await works(issuer, text), false)
    for (const { text } of [root, kept]) t.equal(await works(issuer, text), true)
    t.equal(await issuer.isCurrent(live), false)
    t.match(must(await issuer.endSessionWithKeys(root.key, session.sessionId)), { sessions: 0, keys: 0 })
  })
}

t.test(
  "only the session's key, a key above it, a root or the operator may end the keys of a session",
  async t => {
    for (const ms of [0, DAY]) {
      const { issuer, clock } = setUp()
      const root = await newKey(issuer, ['a.read'])
      const agent = await newKey(issuer, ['a.read'], { parent: root.key })
      const sibling = await newKey(issuer, ['a.read'], { parent: root.key })
      const session = await newSession(issuer, agent.key)
      const made = await newKey(issuer, ['a.read'], { parent: session })
      const stranger = await newKey(issuer, ['a.read'], { accountId: 'other' })
      clock.advance(ms)
      await issuer.maintain()
      const asked = (key: ApiKey, id = session.sessionId) => issuer.endSessionWithKeys(key, id)
      for (const { key } of [sibling, made, stranger]) t.match(await asked(key), { code: 'not_found' })
      t.match(await asked(root.key, 'never'), { code: 'not_found' })
      t.equal(await works(issuer, made.text), true)
      t.match(await asked(agent.key), { ok: true, value: { keys: 1 } })
      const otherRoot = await newKey(issuer, [])
      t.match(await asked(otherRoot.key), { ok: true, value: { keys: 0 } })
    }
  },
)

t.test('the operator ends the keys of a session, and names the account of a deleted one', async t => {
  const { issuer, clock } = setUp()
  const root = await newKey(issuer, [])
  const session = await newSession(issuer, root.key)
  const made = await newKey(issuer, [], { parent: session })
  clock.advance(DAY)
  await issuer.maintain()
  t.match(await issuer.endSessionWithKeys('operator', session.sessionId), { code: 'not_found' })
  const ended = await issuer.endSessionWithKeys('operator', session.sessionId, USER.accountId)
  t.match(ended, { ok: true, value: { sessions: 0, keys: 1 } })
  t.equal(await works(issuer, made.text), false)
})

t.test(
  'nothing that a session, its sessions and its keys create is live after it is ended with its keys',
  async () => {
    const step = fc.record({
      by: fc.nat(),
      on: fc.nat(),
      does: fc.constantFrom('mint', 'create', 'rotate', 'wait'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.boolean(), async (steps, late) => {
        const { issuer, clock } = setUp()
        const root = await newKey(issuer, ['a.read'])
        const clean = await newKey(issuer, ['a.read'], { parent: root.key })
        const session = await newSession(issuer, root.key, { ttlSeconds: 86_400 })
        /** Everything that the holder of the session got: credentials, and texts of keys. */
        const held: (ApiKey | Session)[] = [session]
        const texts: string[] = []
        const keyIds = [clean.key.id]
        for (const { by, on, does } of steps) {
          const who = held[by % held.length] as ApiKey | Session
          if (does === 'wait') clock.advance(30 * MINUTE)
          else if (does === 'mint') {
            const minted = await issuer.issueSession(who)
            if (minted.ok) held.push(minted.value.session)
          } else {
            const made =
              does === 'create'
                ? await issuer.createKey({ ...USER, scopes: [], parent: who })
                : await issuer.rotateKey(who, keyIds[on % keyIds.length] as string, { overlapSeconds: 3600 })
            if (!made.ok) continue
            held.push(made.value.key)
            texts.push(made.value.text)
            keyIds.push(made.value.key.id)
          }
        }
        if (late) clock.advance(2 * DAY)
        await issuer.maintain()
        must(await issuer.endSessionWithKeys('operator', session.sessionId, USER.accountId))
        for (const text of texts)
          assert.equal(await works(issuer, text), false, 'a key outlived what made it')
        for (const one of held) {
          if ('sessionId' in one)
            assert.equal(clock.now() < one.expiresAt && (await issuer.isCurrent(one)), false)
        }
        assert.equal(await works(issuer, root.text), true)
      }),
      { numRuns: randomCases(200) },
    )
  },
)

t.test(
  'after a session was deleted, its key ends what it has rotated, and a key between them does not',
  async t => {
    const { issuer, clock } = setUp()
    const root = await newKey(issuer, [])
    const agent = await newKey(issuer, [], { parent: root.key })
    const made = await newKey(issuer, [], { parent: agent.key })
    const session = await newSession(issuer, root.key)
    const taken = must(await issuer.rotateKey(session, made.key.id))
    clock.advance(DAY)
    await issuer.maintain()
    t.match(await issuer.endSessionWithKeys(agent.key, session.sessionId), { code: 'not_found' })
    t.match(await issuer.endSessionWithKeys(root.key, session.sessionId), { ok: true, value: { keys: 1 } })
    t.equal(await works(issuer, taken.text), false)
  },
)
