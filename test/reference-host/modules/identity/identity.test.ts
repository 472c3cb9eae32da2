import t from 'tap'
import { bearer, bootstrapUser, openTestHost } from '../../../harness/host.ts'
import { partnerUser } from '../../harness/partner.ts'

const host = await openTestHost(t, { DIRECT_USER_KEY: 'on' })

t.test('a session reads what it is, may do and is bound by, from the root down', async t => {
  const policy = { maxAuthAmountCents: 5000 }
  const sessionPolicy = { denyOperations: ['keys.*'] }
  const { token, userId } = await bootstrapUser(host.send, { policy, sessionPolicy, walletLabel: 'Main' })
  const { status, body } = await host.send('/user/v1/identity', { headers: bearer(token) })
  t.equal(status, 200)
  t.same(body['identity'], body.data['identity'], 'repeated at the top level')
  const identity = body.data['identity'] as Record<string, unknown>
  t.match(identity, {
    userId,
    accountId: /^acc_/,
    principal: 'eoa',
    walletAddress: /^0x[0-9a-f]{40}$/,
    walletLabel: 'Main',
    chainId: null,
    keyId: String,
    sessionId: String,
    expiresAt: String,
  })
  t.ok((identity['scopes'] as string[]).includes('identity.read'))
  t.same(
    (identity['policies'] as { policy: unknown }[]).map(each => each.policy),
    [policy, sessionPolicy],
  )
  t.match(identity['caps'], [
    {
      rule: 'maxAuthAmountCents',
      operations: null,
      window: 'operation',
      cap: 5000,
      remaining: 5000,
      resetsAt: null,
    },
  ])
  const left = Date.parse(identity['expiresAt'] as string) - Date.now()
  t.ok(left > 0 && left <= 900_000, 'ends with the session')
})

t.test('shows for each cap what is used, what is left and when it resets', async t => {
  const { token } = await bootstrapUser(host.send, { policy: { dailySpendCapCents: 2500 } })
  const pay = {
    body: { amountCents: 2000 },
    headers: { ...bearer(token), 'idempotency-key': 'identity-caps-1' },
  }
  t.match(await host.send('/user/v1/subscriptions/payin', pay), { status: 200 })
  const { body } = await host.send('/user/v1/identity', { headers: bearer(token) })
  const midnight = new Date((Math.floor(Date.now() / 86_400_000) + 1) * 86_400_000).toISOString()
  t.match((body.data['identity'] as { caps: unknown }).caps, [
    {
      rule: 'dailySpendCapCents',
      unit: 'cents',
      window: 'day',
      cap: 2500,
      used: 2000,
      reserved: 2000,
      remaining: 500,
      resetsAt: midnight,
    },
  ])
})

t.test('a key that is sent itself has no session and no end', async t => {
  const { key } = await bootstrapUser(host.send)
  for (const headers of [{ 'x-user-key': key }, bearer(key)]) {
    const { body } = await host.send('/user/v1/identity', { headers })
    t.match(body.data['identity'], { sessionId: null, expiresAt: null, keyId: key.split('_')[3] })
  }
})

t.test('only the label of the wallet can be changed', async t => {
  const { token } = await bootstrapUser(host.send)
  const change = (body: object) =>
    host.send('/user/v1/identity', { method: 'PATCH', body, headers: bearer(token) })
  const named = await change({ walletLabel: 'Cold', keyId: 'other', scopes: [] })
  t.match(named, { status: 200, body: { data: { identity: { walletLabel: 'Cold' } } } })
  const { body } = await host.send('/user/v1/identity', { headers: bearer(token) })
  t.same(body.data, named.body.data)
  t.match(await change({ walletLabel: null }), { status: 200, body: { identity: { walletLabel: null } } })
  for (const walletLabel of [undefined, '', 'x'.repeat(121), 'a\u0007b', 1])
    t.match(await change({ walletLabel }), { status: 400, body: { field: 'walletLabel' } })
})

t.test('the data key is denied on both surfaces, to every caller with the scope', async t => {
  const { token } = await bootstrapUser(host.send)
  const denied = { status: 403, body: { error: 'policy_blocked', rule: 'data_key_never_leaves' } }
  t.match(await host.send('/user/v1/identity/data-key', { headers: bearer(token) }), denied)
  const path = '/partner/v1/encryption/data-key'
  t.match(await (await partnerUser(host, 'ann', ['encryption.read']))(path), denied)
  const without = await (await partnerUser(host, 'ann', ['encryption.write']))(path)
  t.match(without, { status: 403, body: { error: 'insufficient_scope', scope: 'encryption.read' } })
  t.same(host.failures, [])
})
