// AuthZEN Authorization API 1.0: https://openid.net/specs/authorization-api-1_0.html
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost } from '../../../harness/host.ts'
import { newMoneyUser } from '../../harness/money.ts'

const host = await openTestHost(t)
const { send } = host
const user = await newMoneyUser(send)
await user.fund(10_000)
const headers = bearer(user.token)
const create = async (policy: object, scopes = ['payments.write', 'keys.read']) => {
  const { body } = await send('/user/v1/keys', { headers, body: { scopes, policy } })
  const key = { 'x-user-key': body['userApiKey'] as string }
  const minted = await send('/user/v1/sessions', { headers: key, body: {} })
  return {
    id: body['userKeyId'] as string,
    token: minted.body['sessionToken'] as string,
    sessionId: minted.body['sessionId'] as string,
  }
}
const account = async (token: string): Promise<string> => {
  const { body } = await send('/user/v1/identity', { headers: bearer(token) })
  return (body['data'] as { identity: { accountId: string } }).identity.accountId
}
const accountId = await account(user.token)
const resource = { type: 'account', id: accountId }
const agent = await create({ dailySpendCapCents: 1000, allowedIps: ['127.0.0.0/8', '::1'] })

type Json = Record<string, unknown>
async function evaluate(body: object, token = user.token, more: Record<string, string> = {}) {
  return send('/access/v1/evaluation', { headers: { ...bearer(token), ...more }, body })
}
const payment = (amountCents?: number) => ({
  name: 'payments.create',
  ...(amountCents === undefined ? {} : { properties: { amountCents } }),
})
const request = (changes: object = {}): Json => ({
  subject: { type: 'key', id: agent.id },
  action: payment(1000),
  resource,
  context: { address: '127.0.0.1' },
  ...changes,
})

t.test('permits what the policies of a key allow, at the exact amount that is left', async t => {
  const allowed = await evaluate(request())
  t.equal(allowed.status, 200)
  t.match(allowed.headers.get('content-type'), /^application\/json/)
  t.match(allowed.body, {
    decision: true,
    context: {
      error: null,
      policyRevision: /^[\w-]{22}$/,
      rules: [{ rule: 'allowedIps', outcome: 'passes' }, { binds: true }],
    },
  })
  t.match((await evaluate(request({ action: payment(1001) }))).body, {
    decision: false,
    context: {
      id: '0',
      error: 'policy_blocked',
      reason_user: { en: /limited to 10\.00 USD a day/ },
      rules: [{}, { rule: 'dailySpendCapCents', outcome: 'blocks', binds: true, cap: { remaining: 1000 } }],
    },
  })
  t.match((await evaluate(request({ action: payment() }))).body, { decision: true })
})

/** Pays a shop with the session of a key. */
const shop = await newMoneyUser(send)
const pays = (token: string, amountCents: number) =>
  send('/user/v1/payments', {
    body: { to: { walletAddress: shop.address }, amountCents },
    headers: { ...bearer(token), 'idempotency-key': randomUUID() },
  })
const decided = async (id: string, properties: object) =>
  (await evaluate(request({ subject: { type: 'key', id }, action: { name: 'payments.create', properties } })))
    .body as unknown as { decision: boolean; context: Json }

t.test('says which payee a policy denies, by every name of the request', async t => {
  const { id } = await create({ payees: ['country:DE', 'merchant:Corner Shop'], denyPayees: ['mcc:7995'] })
  const german = { amountCents: 100, payee: ['country:DE', 'mcc:5411'] }
  t.match(await decided(id, german), {
    decision: true,
    context: {
      rules: [
        { rule: 'denyPayees', outcome: 'passes' },
        { rule: 'payees', outcome: 'passes' },
      ],
    },
  })
  t.match(await decided(id, { ...german, payee: ['country:DE', 'mcc:7995'] }), {
    decision: false,
    context: {
      error: 'policy_blocked',
      reason_user: { en: /denies payments to mcc:7995/ },
      rules: [
        { rule: 'denyPayees', outcome: 'blocks', binds: true },
        { rule: 'payees', binds: false },
      ],
    },
  })
  t.match(await decided(id, { amountCents: 100, payee: ['country:FR'] }), {
    decision: false,
    context: {
      reason_user: { en: /allows payments to 2 payees, not to country:FR/ },
      rules: [{ rule: 'denyPayees' }, { rule: 'payees', outcome: 'blocks', binds: true }],
    },
  })
  t.match(await decided(id, { amountCents: 100 }), {
    decision: false,
    context: { reason_user: { en: /lists payees, and this payment names none/ } },
  })
})

t.test('says what is left of a rolling limit, its alert, and from when on the amount fits', async t => {
  const limit = { operations: ['payments.*'], window: '24h', maxCents: 1000, alertAtPercent: 80 }
  const agent = await create({ limits: [limit] })
  t.match(await pays(agent.token, 400), { status: 200 })
  const cap = { window: '24h', cap: 1000, used: 400, remaining: 600, alertAtPercent: 80 }
  t.match(await decided(agent.id, { amountCents: 600 }), {
    decision: true,
    context: { rules: [{ rule: 'limits', outcome: 'passes', binds: true, requested: 600, cap }] },
  })
  t.match(await decided(agent.id, { amountCents: 601 }), {
    decision: false,
    context: {
      error: 'policy_blocked',
      reason_user: {
        en: /10\.00 USD in 24 hours: 6\.00 USD left, 6\.01 USD requested\. This amount fits from /,
      },
      rules: [{ outcome: 'blocks', binds: true, cap: { ...cap, resetsAt: /:00:00\.000Z$/ } }],
    },
  })
})

t.test('says in which time zone a limit resets', async t => {
  const { id } = await create({ dailySpendCapCents: 1000, timeZone: 'Asia/Kathmandu' })
  t.match(await decided(id, { amountCents: 1001 }), {
    decision: false,
    context: {
      reason_user: { en: /resets at .* UTC, when a new day begins in Asia\/Kathmandu/ },
      rules: [{ binds: true, cap: { timeZone: 'Asia/Kathmandu', resetsAt: /T18:15:00\.000Z$/ } }],
    },
  })
})

t.test('says that an amount above a threshold waits for an approval', async t => {
  const { id } = await create({ approveAboveCents: 500, dailySpendCapCents: 1000 })
  const threshold = { rule: 'approveAboveCents', cap: { window: 'operation', cap: 500 } }
  t.match((await decided(id, { amountCents: 500 })).decision, true)
  const above = await decided(id, { amountCents: 501 })
  t.match(above, {
    decision: false,
    context: {
      error: 'approval_required',
      reason_user: { en: /above 5\.00 USD .*waits until its owner has approved it: 5\.01 USD requested/ },
    },
  })
  const rules = above.context['rules'] as Json[]
  t.match(
    rules.filter(({ binds }) => binds),
    [{ ...threshold, outcome: 'blocks', requested: 501 }],
  )
  t.match(await decided(id, { amountCents: 1001 }), {
    decision: false,
    context: { error: 'policy_blocked', reason_user: { en: /limited to 10\.00 USD a day/ } },
  })
})

t.test('counts nothing', async t => {
  for (let n = 0; n < 3; n += 1) t.match((await evaluate(request())).body, { decision: true })
})

t.test('decides about the client address of the context, and denies an unknown one', async t => {
  for (const context of [{ address: '192.0.2.1' }, {}, undefined]) {
    const { body } = await evaluate(request({ context }))
    t.match(body, { decision: false, context: { rules: [{ rule: 'allowedIps', binds: true }, {}] } })
  }
})

t.test('decides about the session of the request, and about no other session', async t => {
  const own = await create({ dailySpendCapCents: 1000 })
  const subject = { type: 'session', id: own.sessionId }
  t.match((await evaluate(request({ subject }), own.token)).body, { decision: true })
  t.match((await evaluate(request({ subject, action: payment(1001) }), own.token)).body, { decision: false })
  t.match((await evaluate(request({ subject }))).body, { decision: false, context: { error: null } })
})

t.test('denies what the caller may not see, and what the host has not', async t => {
  const other = await bootstrapUser(send)
  const { body: foreign } = await send('/user/v1/keys', { headers: bearer(other.token), body: {} })
  const revoked = await create({})
  await send(`/user/v1/keys/${revoked.id}`, { method: 'DELETE', headers })
  for (const [changes, reason] of [
    [{ subject: { type: 'key', id: foreign['userKeyId'] } }, /no such subject/],
    [{ subject: { type: 'key', id: 'nobody' } }, /no such subject/],
    [{ subject: { type: 'user', id: agent.id } }, /no such subject/],
    [{ subject: { type: 'key', id: revoked.id } }, /was revoked/],
    [{ resource: { type: 'account', id: await account(other.token) } }, /not the account of the subject/],
    [{ resource: { type: 'card', id: accountId } }, /not the account of the subject/],
    [{ action: { name: 'payments.crate' } }, /no such operation/],
    [{ action: { name: 'cards.create' } }, /lacks the scope cards\.write/],
  ] as const)
    t.match((await evaluate(request(changes))).body, {
      decision: false,
      context: { reason_user: { en: reason } },
    })
  const sibling = await create({})
  t.match(
    (await evaluate(request(), sibling.token)).body,
    { decision: false },
    'a key sees only those below it',
  )
})

t.test('accepts unknown members, and rejects a body that is no access request', async t => {
  const known = request({ options: {}, subject: { type: 'key', id: agent.id, properties: { a: 1 } } })
  t.match((await evaluate(known)).body, { decision: true })
  for (const [changes, field] of [
    [{ subject: undefined }, 'subject'],
    [{ action: { name: 7 } }, 'action.name'],
    [{ resource: { type: 'account' } }, 'resource.id'],
    [{ action: payment(-1) }, 'action.properties.amountCents'],
    [{ action: { name: 'cards.list', properties: { amountCents: 1 } } }, 'action.properties.amountCents'],
    [{ context: { address: 'here' } }, 'context.address'],
  ] as const)
    t.match(await evaluate(request(changes)), { status: 400, body: { error: 'invalid_request', field } })
})

t.test('requires a session with the scope keys.read, and repeats the request id', async t => {
  t.equal((await send('/access/v1/evaluation', { body: request() })).status, 401)
  const narrow = await create({}, ['payments.write'])
  t.match(await evaluate(request(), narrow.token), { status: 403, body: { error: 'insufficient_scope' } })
  const id = 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716'
  t.equal((await evaluate(request(), user.token, { 'x-request-id': id })).headers.get('x-request-id'), id)
  const own = (await evaluate(request(), user.token, { 'x-request-id': 'x'.repeat(101) })).headers.get(
    'x-request-id',
  )
  t.match(own, /^[\da-f-]{36}$/)
})

t.test('says where access requests are evaluated', async t => {
  const { body, headers: fields } = await send('/.well-known/authzen-configuration')
  const origin = body['policy_decision_point'] as string
  t.match(origin, /^https?:\/\/[^/]+$/)
  t.same(body, {
    policy_decision_point: origin,
    access_evaluation_endpoint: `${origin}/access/v1/evaluation`,
  })
  t.match(fields.get('content-type'), /^application\/json/)
})
