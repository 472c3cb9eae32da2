import { GRACE_MS } from '@gatewright/kernel'
import type { IssuerStorage } from '@gatewright/session-issuer'
import { routeOf } from '#packages/session-issuer/dist/route.js'
import { auditEntry, keyRecord, sessionRecord } from '#packages/session-issuer/dist/testing/sample-records.js'
import t from 'tap'

/** Ids of rows of the account `acc`. */
const [idA, idB, idC] = [1, 2, 3].map(n => `${routeOf('acc')}_${n}`) as [string, string, string]
const policyOf = (id: string) => ({ id: `pol_${id}`, document: {} })

/** What stores collect to the millisecond, if they delete nothing by themselves. */
export function collectsExactly(
  open: () => Promise<{ readonly store: IssuerStorage; close(): Promise<void> }>,
): void {
  void t.test('collects exactly what has ended for long enough, with its policies', async t => {
    const { store, close } = await open()
    t.teardown(close)
    const { keys, sessions, audit } = store
    for (const [id, expiresAt] of [
      [idA, 1000],
      [idB, 1000],
      [idC, 1001],
    ] as const) {
      const record = sessionRecord({ sessionId: id, accountId: 'acc', expiresAt, issuedAt: 0 })
      await sessions.insert(record, [policyOf(id)])
    }
    t.equal(await sessions.collect(9, 1000 + GRACE_MS - 1), 0)
    t.equal(await sessions.collect(1, 1000 + GRACE_MS), 1)
    t.equal(await sessions.collect(9, 1000 + GRACE_MS), 1)
    t.same(await sessions.policies([idA, idB, idC].map(id => policyOf(id).id)), [policyOf(idC)])
    const ended = [idA, idB, idC].map((id, n) => keyRecord('acc', { id, revokedAt: 10 + n }))
    const policies = ended.map(key => ({ ...policyOf(key.id), lineageId: key.id }))
    await keys.commit('acc', 0, { keys: ended, policies, feed: [] })
    t.equal(await keys.collect(9, 10), 0, 'a key that ended at the instant stays')
    t.equal(await keys.collect(9, 12), 2)
    t.same(
      (await keys.load('acc')).keys.map(({ id }) => id),
      [idC],
    )
    t.same(await keys.policies(policies.map(({ id }) => id)), [policyOf(idC)])
    const entry = auditEntry('acc', { expiresAt: 20 })
    await keys.commit('acc', 1, { keys: [], policies: [], feed: [], audit: [entry] })
    t.equal(await audit.collect(9, 19), 0)
    t.equal(await audit.collect(9, 20), 1)
  })
}
