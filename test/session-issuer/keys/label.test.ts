import { FEED_START } from '@gatewright/kernel'
import t from 'tap'
import { must, newKey, newSession, OWNER, setUp, USER } from '../fixtures.ts'

t.test('a key has the label that its creator gave it, and none by default', async t => {
  const { issuer } = setUp()
  const named = await newKey(issuer, ['a.read'], { label: 'agent 🛒 of Ada' })
  t.equal(named.key.label, 'agent 🛒 of Ada')
  t.equal((await newKey(issuer, [])).key.label, null)
  t.equal((await newKey(issuer, [], { label: '👩‍🚀'.repeat(12) })).key.label?.length, 60)
  const listed = must(await issuer.listKeys(named.key)).keys.map(({ key }) => key.label)
  t.same(new Set(listed), new Set(['agent 🛒 of Ada', null, '👩‍🚀'.repeat(12)]))
})

t.test('denies labels that are not safe to show in one line, and labels that are keys', async t => {
  const { issuer } = setUp()
  const { key, text } = await newKey(issuer, ['a.read'])
  const unsafe = [
    '',
    ' ',
    ' a',
    'a\t',
    'a\nb',
    'a\u0000',
    'a\u2028b',
    'a\u202eb',
    'a\u2066b',
    'e\u0301',
    '\ud800',
  ]
  for (const label of [...unsafe, 'x'.repeat(65), '🛒'.repeat(65), 7 as never, text, `key ${text}`]) {
    const denial = { ok: false, code: 'invalid_request', field: 'label' }
    t.match(await issuer.createKey({ ...USER, scopes: [], label }), denial)
    t.match(await issuer.changeKey('operator', key.id, { label }), denial)
  }
  t.ok((await issuer.createKey({ ...USER, scopes: [], label: '🛒'.repeat(64) })).ok)
})

t.test('a new label ends no session, and is in the audit log', async t => {
  const { issuer, feed } = setUp()
  const { key } = await newKey(issuer, ['a.read'], { label: 'ci' })
  const session = await newSession(issuer, key)
  t.match(must(await issuer.changeKey(session, key.id, { label: 'deploy' })), { label: 'deploy', version: 1 })
  t.ok(await issuer.isCurrent(session))
  t.same(feed.after(FEED_START, 10), [])
  const rows = await issuer.listAudit(OWNER.accountId, 9)
  const labels = rows.map(({ action, label }) => `${action} ${label}`).sort()
  t.same(labels, ['key.change deploy', 'key.create ci', 'session.create null'])
  const changed = must(await issuer.changeKey(session, key.id, { label: null, scopes: [] }))
  t.match(changed, { label: null, scopes: [], version: 2 })
  t.notOk(await issuer.isCurrent(session), 'a change of rights ends it')
})

t.test('a successor keeps the label, and both are renamed together', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, ['a.read'], { label: 'ci' })
  const successor = must(await issuer.rotateKey('operator', key.id, { overlapSeconds: 60 })).key
  t.equal(successor.label, 'ci')
  must(await issuer.changeKey('operator', successor.id, { label: 'deploy' }))
  const labels = must(await issuer.visibleKeys(successor)).map(({ label }) => label)
  t.same(labels, ['deploy', 'deploy'])
})

t.test('those who made a key name it: the key itself and those below it cannot', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a.read'], { label: 'root' })
  const child = await newKey(issuer, ['a.read'], { label: 'child', parent: root.key })
  const leaf = await newKey(issuer, ['a.read'], { parent: child.key })
  const denial = { ok: false, code: 'policy_blocked', details: { rule: 'key_authority' } }
  for (const target of [child.key, root.key])
    t.match(await issuer.changeKey(child.key, target.id, { label: 'root', scopes: [] }), denial)
  t.match(must(await issuer.changeKey(child.key, leaf.key.id, { label: 'leaf' })), { label: 'leaf' })
  t.match(must(await issuer.changeKey(root.key, root.key.id, { label: 'top' })), { label: 'top' })
  t.match(must(await issuer.changeKey(root.key, leaf.key.id, { label: null })), { label: null })
  const { walletAddress, userId, accountId } = OWNER
  const console = must(await issuer.openConsole({ accountId, userId, walletAddress, scopes: ['a.read'] }))
  t.match(must(await issuer.changeKey(console.session, child.key.id, { label: 'agent' })), { label: 'agent' })
  t.match(await issuer.changeKey(console.session, console.session.keyId, { label: 'x' }), denial)
})
