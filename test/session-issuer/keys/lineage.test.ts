import { createIssuer, type Issuer } from '@gatewright/session-issuer'
import type { EndedLineage } from '@gatewright/session-issuer/internal'
import t from 'tap'
import { DAY, must, newKey, setUp, type SetUp } from '../fixtures.ts'

/** The documents that bind a lineage now, in their order. */
async function documentsOf({ issuer }: SetUp, keyId: string): Promise<unknown> {
  const lineage = await issuer.lineageOf(keyId)
  return (lineage && (await issuer.lineagePolicies(lineage)))?.map(({ document }) => document)
}

t.test(
  'gives a key and its successors one lineage, another key another, and an unknown id undefined',
  async t => {
    const { issuer } = setUp()
    const { key } = await newKey(issuer, ['a.read'])
    const other = await newKey(issuer, ['a.read'])
    const next = must(await issuer.rotateKey(key, key.id, { overlapSeconds: 60 }))
    const lineage = await issuer.lineageOf(key.id)
    t.same(lineage, { accountId: 'acc', lineageId: key.lineageId })
    t.same(await issuer.lineageOf(next.key.id), lineage)
    t.not((await issuer.lineageOf(other.key.id))?.lineageId, key.lineageId)
    t.equal(await issuer.lineageOf('no-such-key'), undefined)
    t.equal(await issuer.lineagePolicies({ accountId: 'acc', lineageId: 'no-such-lineage' }), undefined)
    t.equal(await issuer.lineagePolicies({ accountId: 'other', lineageId: key.lineageId }), undefined)
  },
)

t.test('returns the inherited policies with their ids, and none for a free key', async t => {
  const bench = setUp()
  const { issuer } = bench
  const root = await newKey(issuer, ['a.read'], { policy: { root: 1 } })
  const child = await newKey(issuer, ['a.read'], { parent: root.key, policy: { child: 1 } })
  const lineage = { accountId: 'acc', lineageId: child.key.lineageId }
  t.same(await issuer.lineagePolicies(lineage), [
    { id: child.key.policyIds[0], document: { root: 1 } },
    { id: child.key.policyIds[1], document: { child: 1 } },
  ])
  t.same(await documentsOf(bench, (await newKey(issuer, [])).key.id), [])
})

t.test('a change of a key, or of a key above it, binds at once', async t => {
  const bench = setUp()
  const { issuer } = bench
  const root = await newKey(issuer, ['a.read'], { policy: { root: 1 } })
  const child = await newKey(issuer, ['a.read'], { parent: root.key, policy: { child: 1 } })
  must(await issuer.changeKey(root.key, child.key.id, { policy: { child: 2 } }))
  t.same(await documentsOf(bench, child.key.id), [{ root: 1 }, { child: 2 }])
  must(await issuer.changeKey(root.key, root.key.id, { policy: { root: 2 } }))
  const documents = (await documentsOf(bench, child.key.id)) as object[]
  t.ok(documents.some(document => 'root' in document && document.root === 2))
})

t.test('a change of the successor binds what the replaced key has made', async t => {
  const bench = setUp()
  const { issuer } = bench
  const old = await newKey(issuer, ['a.read'], { policy: { a: 1 } })
  const next = must(await issuer.rotateKey(old.key, old.key.id))
  t.same(await documentsOf(bench, old.key.id), [{ a: 1 }])
  must(await issuer.changeKey('operator', next.key.id, { policy: { a: 2 } }))
  const documents = await documentsOf(bench, next.key.id)
  t.match(JSON.stringify(documents), /"a":2/)
  t.same(await documentsOf(bench, old.key.id), documents)
})

t.test('an unused successor that was replaced does not decide', async t => {
  const bench = setUp()
  const { issuer } = bench
  const old = await newKey(issuer, ['a.read'], { policy: { a: 1 } })
  const lost = must(await issuer.rotateKey(old.key, old.key.id, { overlapSeconds: 60 }))
  must(await issuer.changeKey('operator', lost.key.id, { policy: { lost: 1 } }))
  const now = must(await issuer.authenticateKey(old.text, 'user'))
  const again = must(await issuer.rotateKey(now, old.key.id, { overlapSeconds: 60 }))
  must(await issuer.changeKey('operator', again.key.id, { policy: { again: 1 } }))
  for (const id of [old.key.id, again.key.id])
    t.match(JSON.stringify(await documentsOf(bench, id)), /again/, id)
})

t.test('a revoked key binds by its last policies, not by those of a key that it replaced', async t => {
  const bench = setUp()
  const { issuer, clock } = bench
  const old = await newKey(issuer, ['a.read'], { policy: { a: 1 } })
  const next = must(await issuer.rotateKey(old.key, old.key.id, { overlapSeconds: 60 }))
  clock.advance(61_000)
  must(await issuer.changeKey('operator', next.key.id, { policy: { a: 2 } }))
  must(await issuer.revokeKey('operator', next.key.id))
  t.same(await documentsOf(bench, next.key.id), [{ a: 2 }])
})

t.test('of two successors the live one decides, although its host has a slower clock', async t => {
  const bench = setUp()
  const { issuer, clock } = bench
  const ahead = createIssuer({ ...bench.options, clock: { now: () => clock.now() + 2000 } })
  const { key, text } = await newKey(issuer, ['a.read'], { policy: { a: 1 } })
  must(await ahead.rotateKey(key, key.id, { overlapSeconds: 60 }))
  const next = must(
    await issuer.rotateKey(must(await issuer.authenticateKey(text, 'user')), key.id, { overlapSeconds: 60 }),
  )
  must(await issuer.changeKey('operator', next.key.id, { policy: { a: 2 } }))
  t.same(await documentsOf(bench, key.id), [{ a: 2 }])
  clock.advance(61_000)
  must(await issuer.revokeKey('operator', next.key.id))
  t.same(await documentsOf(bench, key.id), [{ a: 2 }])
})

t.test('returns the last policies of a lineage once all its keys have ended', async t => {
  const { issuer, clock } = setUp()
  const { key } = await newKey(issuer, ['a.read'], { policy: { a: 1 } })
  const lineage = { accountId: 'acc', lineageId: key.lineageId }
  const next = must(await issuer.rotateKey(key, key.id, { overlapSeconds: 60 }))
  clock.advance(61_000)
  t.equal(await issuer.endedLineagePolicies(lineage), undefined, 'the successor is live')
  must(await issuer.revokeKey('operator', next.key.id))
  t.same(await issuer.endedLineagePolicies(lineage), [{ id: key.policyIds[0], document: { a: 1 } }])
  t.equal(await issuer.endedLineagePolicies({ accountId: 'acc', lineageId: 'none' }), undefined)
})

/** Creates and revokes so many keys. */
async function endKeys(issuer: Issuer, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { key } = await newKey(issuer, [])
    must(await issuer.revokeKey('operator', key.id))
  }
}

t.test('names the lineages that have ended before it deletes keys beyond 200 ended ones', async t => {
  const named: (readonly EndedLineage[])[] = []
  let fails = false
  const { issuer, clock } = setUp({
    async beforeKeysAreDeleted(lineages) {
      named.push(lineages)
      if (fails) throw new Error('down')
    },
  })
  const { key } = await newKey(issuer, ['a.read'], { policy: { a: 1 } })
  const lineage = { accountId: 'acc', lineageId: key.lineageId }
  must(await issuer.revokeKey('operator', key.id))
  clock.advance(1)
  const second = await newKey(issuer, ['a.read'])
  must(await issuer.revokeKey('operator', second.key.id))
  await endKeys(issuer, 199)
  t.same(named, [], 'only 200 had ended')
  fails = true
  await newKey(issuer, ['a.read'])
  t.ok(await issuer.lineagePolicies(lineage), 'nothing is deleted while the host cannot keep it')
  fails = false
  await newKey(issuer, ['a.read'])
  const ended = { ...lineage, policies: [{ id: key.policyIds[0], document: { a: 1 } }] }
  t.same(named, [[ended], [ended]])
  t.equal(await issuer.lineagePolicies(lineage), undefined)
  t.ok(await issuer.lineagePolicies({ ...lineage, lineageId: second.key.lineageId }), 'the others stay')
})

t.test('names no lineage of which a key is live', async t => {
  const named: unknown[] = []
  const { issuer, clock } = setUp({ beforeKeysAreDeleted: async lineages => void named.push(lineages) })
  const { key } = await newKey(issuer, ['a.read'], { policy: { a: 1 } })
  must(await issuer.rotateKey(key, key.id, { overlapSeconds: 0 }))
  clock.advance(1)
  await endKeys(issuer, 200)
  await newKey(issuer, ['a.read'])
  t.equal(await issuer.lineageOf(key.id), undefined, 'the key itself is deleted')
  t.same(named, [])
})

t.test('a revoked key leaves its last policies in force, until the key itself is deleted', async t => {
  const bench = setUp()
  const { issuer, clock } = bench
  const { key } = await newKey(issuer, ['a.read'], { policy: { a: 1 } })
  must(await issuer.revokeKey('operator', key.id))
  t.same(await documentsOf(bench, key.id), [{ a: 1 }])
  const lineage = { accountId: 'acc', lineageId: key.lineageId }
  clock.advance(8 * DAY)
  await issuer.maintain()
  t.equal(await issuer.lineageOf(key.id), undefined)
  t.equal(await issuer.lineagePolicies(lineage), undefined)
})
