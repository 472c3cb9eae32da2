import { FEED_START } from '@gatewright/kernel'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { must, newKey, newSession, setUp } from '../fixtures.ts'

const PAUSED = { ok: false, status: 403, code: 'policy_blocked', details: { rule: 'key_paused' } }

t.test(
  'a paused key and the keys below it work nowhere, and their sessions end, until it is resumed',
  async t => {
    const { issuer, feed, clock } = setUp()
    const root = await newKey(issuer, ['a.read'])
    const middle = await newKey(issuer, ['a.read'], { parent: root.key })
    const leaf = await newKey(issuer, ['a.read'], { parent: middle.key })
    const sessions = [await newSession(issuer, middle.key), await newSession(issuer, leaf.key)]
    const above = await newSession(issuer, root.key)
    const paused = must(await issuer.pauseKey(above, middle.key.id))
    const pause = { lineageId: middle.key.lineageId, by: 'owner', at: clock.now() }
    t.same(paused.pauses, [pause])
    for (const { text } of [middle, leaf]) t.match(await issuer.authenticateKey(text, 'user'), PAUSED)
    for (const session of sessions) t.equal(await issuer.isCurrent(session), false)
    t.equal(await issuer.isCurrent(above), true)
    t.match(must(await issuer.authenticateKey(root.text, 'user')), { pauses: [] })
    t.equal(feed.after(FEED_START, 10).length, 2)
    const late = await newSession(issuer, middle.key)
    t.equal(await issuer.isCurrent(late), false, 'a session for a request that began before')
    const again = must(await issuer.pauseKey(above, middle.key.id))
    t.same(again, paused, 'a repeat changes nothing')
    const actions = (await issuer.listAudit(root.key.accountId, 100)).map(({ action, target }) => [
      action,
      target,
    ])
    t.equal(
      actions.filter(([action, target]) => action === 'key.pause' && target === middle.key.id).length,
      1,
    )

    const resumed = must(await issuer.resumeKey(above, middle.key.id))
    t.same(resumed.pauses, [])
    t.same(must(await issuer.resumeKey(above, middle.key.id)), resumed)
    for (const { text, key } of [middle, leaf]) {
      const { version, pauses, ...rest } = must(await issuer.authenticateKey(text, 'user'))
      const { version: before, pauses: _, lastUsedAt: __, ...old } = key
      t.match(rest, old, 'rights, place and policies are as before')
      t.same([version, pauses], [before + 1, []])
    }
    for (const session of sessions) t.equal(await issuer.isCurrent(session), false, 'clients mint new ones')
  },
)

t.test('a wrong secret of a paused key is a wrong secret', async t => {
  const { issuer } = setUp()
  const { key, text } = await newKey(issuer, ['a.read'])
  must(await issuer.pauseKey('operator', key.id))
  const wrong = text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A')
  t.match(await issuer.authenticateKey(wrong, 'user'), { code: 'unauthorized' })
})

t.test('who may pause and resume which key', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read'])
  const one = await newKey(issuer, ['a.read'], { parent: root.key })
  const two = await newKey(issuer, ['a.read'], { parent: root.key })
  const below = await newKey(issuer, ['a.read'], { parent: one.key })
  t.match(await issuer.pauseKey(one.key, two.key.id), { code: 'not_found' })
  t.match(await issuer.pauseKey(root.key, 'none'), { code: 'not_found' })
  t.match(await issuer.pauseKey('operator', 'none'), { code: 'not_found' })
  t.match(must(await issuer.pauseKey(below.key, one.key.id)).pauses, [{ by: 'owner' }], 'as it may revoke it')
  t.match(await issuer.resumeKey(one.key, one.key.id), { code: 'unauthorized' }, 'a paused key does nothing')
  must(await issuer.resumeKey(root.key, one.key.id))
  const live = must(await issuer.authenticateKey(one.text, 'user'))
  t.match(await issuer.resumeKey(live, live.id), { details: { rule: 'key_authority' } })
  must(await issuer.pauseKey(root.key, one.key.id))
  must(await issuer.pauseKey('operator', one.key.id))
  t.match(await issuer.resumeKey(root.key, one.key.id), PAUSED, 'an operator has paused it, too')
  t.match(must(await issuer.pauseKey(root.key, one.key.id)).pauses, [{ by: 'operator' }])
  t.match(await issuer.resumeKey('operator', below.key.id), PAUSED, 'the key above is paused')
  must(await issuer.resumeKey('operator', one.key.id))
  t.match(must(await issuer.authenticateKey(below.text, 'user')), { pauses: [] })
})

t.test('a successor of a paused key is paused, and a revoked key stays revoked', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read'])
  must(await issuer.pauseKey('operator', root.key.id))
  const next = must(await issuer.rotateKey({ walletOf: root.key.accountId }, root.key.id))
  t.match(await issuer.authenticateKey(next.text, 'user'), PAUSED)
  must(await issuer.revokeKey('operator', next.key.id))
  t.match(await issuer.resumeKey('operator', next.key.id), { code: 'not_found' })
  t.match(await issuer.authenticateKey(next.text, 'user'), { code: 'unauthorized' })
})

t.test('what a paused key has made is bound by a policy that allows nothing', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, ['a.read'], { policy: { x: 1 } })
  const documents = async () => (await issuer.lineagePolicies(key))?.map(({ document }) => document)
  t.same(await documents(), [{ x: 1 }])
  must(await issuer.pauseKey('operator', key.id))
  t.same(await documents(), [{ x: 1 }, { allowOperations: [] }])
  must(await issuer.revokeKey('operator', key.id))
  t.same(await documents(), [{ x: 1 }], 'its revocation decides about that')
})

t.test('a key works exactly while no key at or above it is paused, in whatever order they are', async () => {
  const { issuer } = setUp()
  const keys = [await newKey(issuer, ['a.read'])]
  for (const above of [0, 0, 1, 2, 3])
    keys.push(await newKey(issuer, ['a.read'], { parent: (keys[above] as (typeof keys)[0]).key }))
  const isPaused = keys.map(() => false)
  const step = fc.record({ verb: fc.constantFrom('pause', 'resume'), at: fc.nat(keys.length - 1) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async steps => {
      for (const { verb, at } of steps) {
        const { id } = (keys[at] as (typeof keys)[0]).key
        const result = await (verb === 'pause'
          ? issuer.pauseKey('operator', id)
          : issuer.resumeKey('operator', id))
        if (result.ok) isPaused[at] = verb === 'pause'
      }
      for (const { key, text } of keys) {
        const lineages = [key.lineageId, ...key.ancestry]
        const expected = keys.every(
          (each, index) => !isPaused[index] || !lineages.includes(each.key.lineageId),
        )
        if ((await issuer.authenticateKey(text, 'user')).ok !== expected) return false
      }
      return true
    }),
    { numRuns: randomCases(40) },
  )
})
