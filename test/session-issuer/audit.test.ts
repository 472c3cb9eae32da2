import type { AuditEntry } from '@gatewright/session-issuer'
import t from 'tap'
import { DAY, must, newKey, newSession, setUp, USER, type SetUp } from './fixtures.ts'

/** The rows of the account, oldest first, as actor, action and target. */
async function auditLines({ issuer }: SetUp): Promise<string[]> {
  const rows = await issuer.listAudit(USER.accountId, 1000)
  const actor = ({ by, keyId, sessionId }: AuditEntry): string => sessionId ?? keyId ?? by
  return rows.map(row => `${actor(row)} ${row.action} ${row.target}`).toReversed()
}

/** An issuer whose clock advances with every step, so that rows have one order. */
async function steps(set: SetUp, ...all: (() => Promise<unknown>)[]): Promise<void> {
  for (const one of all) {
    await one()
    set.clock.advance(1000)
  }
}

t.test('every change of keys, policies and sessions writes a row with actor, action and time', async t => {
  const set = setUp()
  const { issuer, clock } = set
  const start = clock.now()
  const root = await newKey(issuer, ['a.read'], { rootBy: 'wallet' })
  clock.advance(1000)
  const session = await newSession(issuer, root.key)
  clock.advance(1000)
  const child = await newKey(issuer, ['a.read'], { parent: session })
  clock.advance(1000)
  const { id } = child.key
  let successor = ''
  await steps(
    set,
    async () => must(await issuer.changeKey(session, id, { policy: { maxAuthAmountCents: 1 } })),
    async () => {
      successor = must(await issuer.rotateKey('operator', id)).key.id
    },
    async () => must(await issuer.endSession(root.key, session.sessionId)),
    async () => must(await issuer.revokeKey('operator', successor)),
  )
  const rows = await issuer.listAudit(USER.accountId, 1000)
  const all = await auditLines(set)
  t.ok(all.includes(`wallet key.create ${root.key.id}`))
  t.ok(all.includes(`${root.key.id} session.create ${session.sessionId}`))
  t.ok(all.includes(`${session.sessionId} key.create ${id}`))
  t.ok(all.includes(`${session.sessionId} key.change ${id}`))
  t.ok(all.includes(`operator key.rotate ${id}`))
  t.ok(all.includes(`operator key.create ${successor}`))
  t.ok(all.includes(`${root.key.id} session.end ${session.sessionId}`))
  t.ok(all.includes(`operator key.revoke ${successor}`))
  t.equal(all.length, 8)
  t.match(rows.at(-1), {
    at: start,
    expiresAt: start + 90 * DAY,
    by: 'wallet',
    keyId: null,
    scopes: ['a.read'],
  })
  const change = rows.find(({ action }) => action === 'key.change')
  t.match(change, { by: 'session', keyId: root.key.id, sessionId: session.sessionId })
  t.equal(change?.policyIds.length, 1)
  const texts = JSON.stringify(rows)
  for (const text of [root.text, child.text]) t.notOk(texts.includes(text.slice(-36)), 'no secret')
})

t.test('a denial, a repeat without effect and a read write no row', async t => {
  const set = setUp({ maxKeysBelow: 1 })
  const { issuer } = set
  const root = await newKey(issuer, ['a.read'])
  const child = await newKey(issuer, [], { parent: root.key })
  const session = await newSession(issuer, root.key)
  must(await issuer.endSession(root.key, session.sessionId))
  must(await issuer.revokeKey(root.key, child.key.id))
  const before = await auditLines(set)
  await issuer.createKey({ ...USER, scopes: ['b.read'], parent: root.key })
  await issuer.issueSession(root.key, { scopes: ['b.read'] })
  must(await issuer.endSession(root.key, session.sessionId))
  must(await issuer.revokeKey(root.key, child.key.id))
  must(await issuer.listKeys(root.key))
  t.same(await auditLines(set), before)
})

t.test(
  'each key that ends with another key, at the cap or with its account has a row of its own',
  async t => {
    const set = setUp({ maxLiveKeys: 2 })
    const { issuer, clock } = set
    const root = await newKey(issuer, [])
    const child = await newKey(issuer, [], { parent: root.key })
    clock.advance(1000)
    const fresh = await newKey(issuer, [], { rootBy: 'wallet' })
    t.ok((await auditLines(set)).includes(`wallet key.retire ${child.key.id}`))
    clock.advance(1000)
    await issuer.revokeAccount(USER.accountId)
    const all = await auditLines(set)
    t.ok(all.includes(`operator account.revoke ${USER.accountId}`))
    for (const { key } of [root, fresh]) t.ok(all.includes(`operator key.revoke ${key.id}`))
  },
)

t.test("the row of a partner key's session is under the account of its user", async t => {
  const { issuer } = setUp()
  const partner = { surface: 'partner', accountId: 'ptn', userId: null, walletAddress: null } as const
  const { key } = must(await issuer.createKey({ ...partner, scopes: ['a.read'] }))
  const subject = { accountId: 'acc', userId: 'usr', walletAddress: null }
  const { session } = must(await issuer.issueSession(key, { subject }))
  t.match(await issuer.listAudit('acc', 10), [
    { by: 'partner', keyId: key.id, action: 'session.create', target: session.sessionId },
  ])
  t.match(await issuer.listAudit('ptn', 10), [{ by: 'operator', action: 'key.create', target: key.id }])
})

t.test('maintain deletes more rows of each kind than one batch holds, unless it is aborted', async t => {
  const { issuer, clock } = setUp({ auditRetentionDays: 1 })
  const { key } = await newKey(issuer, [])
  for (let n = 0; n < 1500; n++) await newSession(issuer, key)
  clock.advance(2 * DAY)
  t.match(await issuer.maintain(AbortSignal.abort()), { collectedSessions: 0, collectedAudit: 0 })
  t.match(await issuer.maintain(), { collectedSessions: 1500, collectedAudit: 1501 })
})

t.test('rows are collected after their time, in batches', async t => {
  const { issuer, clock } = setUp({ auditRetentionDays: 1 })
  const { key } = await newKey(issuer, [])
  for (let n = 0; n < 5; n++) await newSession(issuer, key)
  clock.advance(DAY - 1)
  t.equal((await issuer.maintain()).collectedAudit, 0)
  clock.advance(1)
  t.equal((await issuer.maintain()).collectedAudit, 6)
  t.same(await issuer.listAudit('acc', 10), [])
  t.throws(
    () => setUp({ auditRetentionDays: 0 }),
    /auditRetentionDays must be an integer from 1 to 3650, not 0/,
  )
  t.throws(() => setUp({ audit: undefined as never }), /audit must be an object/)
})
