import type { Session } from '@gatewright/kernel'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import { checkPolicyChain } from '@gatewright/scope-guard'
import t from 'tap'
import { must, newKey, newSession, setUp, setUpStored, USER } from '../fixtures.ts'

/** A document whose JSON has so many bytes, most of them in characters of two. */
const documentOf = (bytes: number): object => {
  const text = 'é'.repeat(Math.floor((bytes - 8) / 2)) + 'x'.repeat(bytes % 2)
  return { x: text }
}
const tooLarge = { ok: false, code: 'invalid_request', status: 400, field: 'policy' }

t.test('accepts a policy of 8192 bytes, and denies one byte more', async t => {
  t.equal(Buffer.byteLength(JSON.stringify(documentOf(8193))), 8193)
  const { issuer } = setUp()
  const message = 'policy must have at most 8192 bytes as JSON, got 8193'
  const root = await newKey(issuer, [], { policy: documentOf(8192) })
  t.match(await issuer.createKey({ ...USER, scopes: [], policy: documentOf(8193) }), { ...tooLarge, message })
  t.match(await issuer.changeKey(root.key, root.key.id, { policy: documentOf(8193) }), {
    ...tooLarge,
    message,
  })
  t.match(await issuer.issueSession(root.key, { policy: documentOf(8193) }), { ...tooLarge, message })
  const { accountId, userId, walletAddress } = USER
  const console = { accountId, userId, walletAddress, scopes: [] }
  t.match(await issuer.openConsole({ ...console, policy: documentOf(8193) }), { ...tooLarge, message })
  t.match(await issuer.openConsole({ ...console, policy: documentOf(8192) }), { ok: true })
  t.match(await issuer.issueSession(root.key, { policy: documentOf(8192) }), { ok: true })
  t.match(await issuer.changeKey(root.key, root.key.id, { policy: documentOf(8192) }), { ok: true })
})

/** A key with three keys above it; the policies of the four have so many bytes together. */
async function deepKey(issuer: Issuer, bytes: number, above?: ApiKey): Promise<ApiKey> {
  let parent = above
  for (const size of [8192, 8192, 8192, bytes - 3 * 8192]) {
    const request = { ...(parent && { parent }), policy: documentOf(size) }
    parent = (await newKey(issuer, ['a'], request)).key
  }
  return parent as ApiKey
}

t.test('accepts a chain of 32 KiB, and denies one byte more wherever a policy joins it', async t => {
  const { issuer } = setUp()
  const message = /at most 32768 bytes of JSON together, got 32769/
  const parent = await deepKey(issuer, 32_668)
  t.match(await issuer.createKey({ ...USER, scopes: [], parent, policy: documentOf(101) }), {
    ...tooLarge,
    message,
  })
  t.match(await issuer.createKey({ ...USER, scopes: [], parent, policy: documentOf(100) }), { ok: true })
  t.match(await issuer.issueSession(parent, { policy: documentOf(101) }), { ...tooLarge, message })
  const session = await newSession(issuer, parent, { policy: documentOf(50) })
  t.match(await issuer.issueSession(session, { policy: documentOf(51) }), { ...tooLarge, message })
  t.match(await issuer.issueSession(session, { policy: documentOf(50) }), { ok: true })
  // A key below a session gets the policies that only the session has.
  const below = { ...USER, scopes: [], parent: session }
  t.match(await issuer.createKey({ ...below, policy: documentOf(51) }), { ...tooLarge, message })
  t.match(await issuer.createKey({ ...below, policy: documentOf(50) }), { ok: true })
})

t.test('denies a change of a key by which the chain of a key below it would be too large', async t => {
  const { issuer } = setUp()
  const root = await newKey(issuer, ['a'])
  const child = await newKey(issuer, ['a'], { parent: root.key })
  const leaf = await deepKey(issuer, 32_668, child.key)
  const change = (policy: object) => issuer.changeKey(root.key, child.key.id, { policy })
  const denied = await change(documentOf(101))
  t.match(denied, {
    ...tooLarge,
    message: /got 32769: send a smaller policy, or revoke keys below this one$/,
  })
  t.equal(must(await issuer.authenticateKey(child.text, 'user')).version, 1, 'nothing has changed')
  t.match(await change(documentOf(100)), { ok: true })
  t.match(await change(documentOf(90)), { ok: true }, 'it replaces the policy before')
  must(await issuer.revokeKey(root.key, leaf.id))
  t.match(await change(documentOf(300)), { ok: true }, 'an ended key counts no more')
})

t.test('a chain that was stored before there was a bound goes on, and no policy joins it', async t => {
  const large = documentOf(32_769)
  const { issuer } = setUpStored(() => large)
  const root = await newKey(issuer, ['a'], { policy: documentOf(400) })
  const session = await newSession(issuer, root.key)
  t.same(await issuer.policies(session.policyIds), [large])
  t.match(await newKey(issuer, ['a'], { parent: session }), { key: { policyIds: { length: 1 } } })
  const rotated = must(await issuer.rotateKey(root.key, root.key.id)).key
  const key = must(await issuer.changeKey('operator', rotated.id, { scopes: [] }))
  t.match(await issuer.issueSession(key, { policy: {} }), tooLarge)
})

t.test(
  'asks checkPolicyChain with every document of a chain that a policy joins, and returns its denial',
  async t => {
    const { issuer } = setUp({ checkPolicyChain })
    const limits = (count: number, tag: string) => ({
      limits: Array.from({ length: count }, (_, index) => ({
        operations: [`${tag}.*`, `other.n${index}`],
        window: 'day',
        maxCount: 1,
      })),
    })
    let by: ApiKey | Session = (await newKey(issuer, ['a'], { policy: limits(16, 'a') })).key
    for (let n = 0; n < 8; n++) {
      by = await newSession(issuer, by, { policy: { dailySpendCapCents: 1, dailyWithdrawalCapCents: 1 } })
    }
    // A withdrawal that is an operation of the tag `a` adds to 32 counters.
    const counters = { ...tooLarge, message: /at most 32 counters of together, got 33/ }
    t.match(await issuer.issueSession(by, { policy: limits(1, 'b') }), { ok: true })
    t.match(await issuer.issueSession(by, { policy: limits(1, 'a') }), counters)
    const below = { ...USER, scopes: [], parent: by }
    t.match(await issuer.createKey({ ...below, policy: limits(1, 'b') }), { ok: true })
    t.match(await issuer.createKey({ ...below, policy: limits(1, 'a') }), counters)
  },
)

t.test('refuses a checkPolicyChain that is not a function', t => {
  const message = 'createIssuer: checkPolicyChain must be a function, not string'
  t.throws(() => setUp({ checkPolicyChain: 'on' as never }), { name: 'TypeError', message })
  t.end()
})
