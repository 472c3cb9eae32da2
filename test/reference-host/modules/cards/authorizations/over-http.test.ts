import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import {
  authorizationOf,
  cardUser,
  keyBelow,
  networkEvent,
  networkRequest,
  type CardUser,
  type WireAuthorization,
} from '../../../harness/card-payments.ts'
import { bearer, bootstrapUser, openTestHost, type HttpResponse } from '../../../../harness/host.ts'
import { WEBHOOK_SECRET } from '../../../harness/kyc.ts'

const clock = manualClock(Date.now())
const env = {
  RATE_LIMITS: 'off',
  PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET},other=${WEBHOOK_SECRET}`,
}
const host = await openTestHost(t, env, clock)

async function funded(
  amountCents = 10_000,
): Promise<CardUser & { readonly token: string; readonly key: string }> {
  const { token, key } = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
  const user = cardUser(host.send, token)
  await user.fund(amountCents)
  return { ...user, token, key }
}
const ownKey = (
  { token }: { readonly token: string },
  path: string,
  request: { method: string; body?: object },
) => host.send(`/user/v1/keys/${path}`, { ...request, headers: bearer(token) })
const event = (type: string, data: object, more: object = {}) =>
  networkEvent(host.send, { type: `authorization.${type}`, data }, { now: clock.now(), ...more })

t.test('a decline is a response, stored under its key, and holds nothing', async t => {
  const user = await funded(500)
  const cardId = await user.card({ limit: { amount: 400, frequency: 'perAuthorization' } })
  const declined = await user.pay(cardId, { amountCents: 401 }, 'key-of-a-decline')
  t.match(declined, { status: 'declined', declineReason: 'card_limit_exceeded' })
  t.same(await user.pay(cardId, { amountCents: 401 }, 'key-of-a-decline'), declined)
  t.match(await user.pay(cardId, { currency: 'EUR' }), { declineReason: 'currency_not_supported' })
  const [newest] = (await user.read('/transactions?limit=1')).body.data['transactions'] as object[]
  t.match(newest, { amountCents: 0, currency: 'USD', description: 'Card payment in EUR' })
  const [notification] = (await user.read('/notifications?limit=1')).body.data['notifications'] as object[]
  t.match(notification, { kind: 'authorization.declined', text: 'A card payment was declined.' })
  t.match(await user.pay(cardId, { merchant: { name: 'decline fraud' } }), {
    declineReason: 'suspected_fraud',
  })
  t.match(await user.pay(cardId, { merchant: { name: 'Decline Merchant' } }), {
    declineReason: 'merchant_blocked',
  })
  t.equal(await user.balance(), 500)
  t.match(await user.pay(cardId, { amountCents: 400 }), { status: 'authorized' })
  t.match(await user.pay(cardId, { amountCents: 101 }), { declineReason: 'insufficient_funds' })
})

t.test('the owner lowers the cap of a key, and each of its cards declines', async t => {
  const owner = await funded()
  const { keyId, token } = await keyBelow(host.send, owner.token, { dailySpendCapCents: 5000 })
  const maker = cardUser(host.send, token)
  const cards = [await maker.card(), await maker.card()]
  for (const cardId of cards) t.match(await owner.pay(cardId), { status: 'authorized' })
  const change = { method: 'PATCH', body: { policy: { dailySpendCapCents: 0 } } }
  t.match(await ownKey(owner, keyId, change), { status: 200 })
  const blocked = { status: 'declined', declineReason: 'policy_blocked', declineRule: 'dailySpendCapCents' }
  for (const cardId of cards) t.match(await owner.pay(cardId, { amountCents: 1 }), blocked)
  t.match(await owner.pay(await owner.card()), { status: 'authorized' }, 'a card of the owner is not bound')
})

t.test('a rotated key passes its cap, and what is used of it, to its successor', async t => {
  const owner = await funded()
  const { keyId, token } = await keyBelow(host.send, owner.token, { dailySpendCapCents: 1000 })
  const cardId = await cardUser(host.send, token).card()
  t.match(await owner.pay(cardId, { amountCents: 600 }), { status: 'authorized' })
  const rotated = await ownKey(owner, `${keyId}/rotate`, { method: 'POST', body: { overlapSeconds: 0 } })
  t.equal(rotated.status, 200)
  const blocked = { status: 'declined', declineReason: 'policy_blocked', declineRule: 'dailySpendCapCents' }
  t.match(await owner.pay(cardId, { amountCents: 401 }), blocked)
  const successor = rotated.body['userKeyId'] as string
  const lowered = { method: 'PATCH', body: { policy: { dailySpendCapCents: 0 } } }
  t.equal((await ownKey(owner, successor, lowered)).status, 200)
  t.match(await owner.pay(cardId, { amountCents: 1 }), blocked, 'the successor is lowered, and its cards are')
})

t.test('payments at once on two cards stay within the cap of their key', async t => {
  const owner = await funded()
  const { token } = await keyBelow(host.send, owner.token, { dailySpendCapCents: 1050 })
  const maker = cardUser(host.send, token)
  const cards = [await maker.card(), await maker.card()]
  const paid = await Promise.all(Array.from({ length: 20 }, (_, n) => owner.pay(cards[n % 2] as string)))
  t.equal(paid.filter(({ status }) => status === 'authorized').length, 10)
  t.equal(await owner.balance(), 9000)
})

t.test('a policy that does not allow cards.authorize makes cards that decline', async t => {
  const owner = await funded()
  const { token } = await keyBelow(host.send, owner.token, {
    allowOperations: ['cards.create', 'sessions.*'],
  })
  const cardId = await cardUser(host.send, token).card()
  t.match(await owner.pay(cardId), { declineReason: 'policy_blocked', declineRule: 'allowOperations' })
})

t.test("a session's own policy binds its cards an hour after the session has ended", async t => {
  const owner = await funded()
  const policy = { limits: [{ operations: ['cards.authorize'], window: 'total', maxCents: 250 }] }
  const { token, sessionId } = await keyBelow(host.send, owner.token, {}, { policy })
  const cardId = await cardUser(host.send, token).card()
  t.match(await owner.pay(cardId, { amountCents: 200 }), { status: 'authorized' })
  const ended = await host.send(`/user/v1/sessions/${sessionId}`, {
    method: 'DELETE',
    headers: bearer(owner.token),
  })
  t.equal(ended.status, 200)
  clock.advance(3_600_000)
  await host.chore('maintain keys')
  const blocked = { declineReason: 'policy_blocked', declineRule: 'limits' }
  t.match(await owner.pay(cardId, { amountCents: 51 }), blocked)
  t.match(await owner.pay(cardId, { amountCents: 50 }), { status: 'authorized' })
})

t.test('a card network gets one decision for one id, whatever the id of its message is', async t => {
  const user = await funded()
  const cardId = await user.card()
  const data = networkRequest(cardId, { amountCents: 600 })
  const first = await event('request', data)
  const decision = { approved: true, authorizationId: /^auth_[0-9a-f]{32}$/, declineReason: null }
  t.match(first, { status: 200, body: { ok: true, data: { applied: true, decision } } })
  const copies = await Promise.all(Array.from({ length: 5 }, () => event('request', data)))
  for (const { body } of copies)
    t.same(body.data, { ...first.body.data, applied: false, outcome: 'repeated' })
  t.equal(await user.balance(), 9400)
  const declined = await event('request', networkRequest(cardId, { declineReason: 'suspected_fraud' }))
  t.match(declined.body.data, { decision: { approved: false, declineReason: 'suspected_fraud' } })
  t.match(
    await event('request', data, { name: 'other' }),
    { status: 404 },
    'another provider has no such card',
  )
  t.match(await event('request', networkRequest('card_unknown')), { status: 404 })
  const metrics = await (await fetch(`${host.url}/metrics`)).text()
  t.match(metrics, /authorizations_total\{outcome="declined",reason="suspected_fraud"\} [1-9]/)
  t.match(metrics, /authorizations_total\{outcome="authorized",reason=""\} [1-9]/)
  t.match(await event('request', { ...data, amountCents: -1 }), {
    status: 400,
    body: { field: 'data.amountCents' },
  })
})

t.test('notifies the owner of each payment', async t => {
  const user = await funded()
  await user.pay(await user.card(), { amountCents: 1234 })
  const { body } = await user.read('/notifications?limit=1')
  t.match(body.data['notifications'], [{ kind: 'authorization.authorized', text: /12\.34 USD/ }])
})

t.test('shows the last 20 things that happened to an authorization', async t => {
  const user = await funded()
  const paid = await user.pay(await user.card(), { amountCents: 500 })
  await user.later(paid.id, 'clear', { amountCents: 500 })
  // Requested and cleared: with 18 refunds it has 20 entries.
  for (let n = 1; n <= 18; n++) await user.later(paid.id, 'refund', { amountCents: n })
  const full = await user.later(paid.id, 'refund', { amountCents: 19 })
  const { history } = authorizationOf(full)
  t.equal(history.length, 20)
  t.match([history[0], history.at(-1)], [{ cause: 'cleared' }, { cause: 'refunded', amountCents: 19 }])
})

/** Asks a network's way for an authorization and returns the id that the network gave it. */
async function authorized(cardId: string, amountCents: number): Promise<string> {
  const data = networkRequest(cardId, { amountCents })
  const { body } = await event('request', data)
  if (!(body.data['decision'] as { approved: boolean }).approved) throw new Error(JSON.stringify(body))
  return data.id
}
const increment = (
  id: string,
  amountCents: number,
  more: object = {},
  name = 'sandbox',
): Promise<HttpResponse> =>
  event('increment', { id, incrementId: randomUUID(), amountCents, currency: 'USD', ...more }, { name })
async function only(user: CardUser, cardId: string): Promise<WireAuthorization> {
  const { body } = await user.read(`/cards/${cardId}/authorizations`)
  const [row, ...more] = body.data['authorizations'] as WireAuthorization[]
  if (!row || more.length > 0) throw new Error(`${more.length + 1} authorizations`)
  return row
}
const approved = {
  status: 200,
  body: { data: { applied: true, decision: { approved: true, declineReason: null } } },
}
const declined = (declineReason: string) => ({
  status: 200,
  body: { data: { decision: { approved: false, declineReason } } },
})

t.test('an increment raises the amount, what is held and its transaction', async t => {
  const user = await funded()
  const cardId = await user.card()
  const id = await authorized(cardId, 600)
  t.match(await increment(id, 150), approved)
  t.match(await increment(id, 50), approved)
  t.equal(await user.balance(), 9200)
  const { history, ...row } = await only(user, cardId)
  t.match(row, { status: 'authorized', amountCents: 800 })
  t.same(
    history.map(({ from, to, cause, amountCents }) => [from, to, cause, amountCents]),
    [
      [null, 'authorized', 'requested', 600],
      ['authorized', 'authorized', 'incremented', 150],
      ['authorized', 'authorized', 'incremented', 50],
    ],
  )
  const { body } = await user.read('/transactions?type=spend')
  t.match(body.data['transactions'], [{ status: 'pending', amountCents: 800 }])
  t.match(await event('cleared', { id, amountCents: 700 }), { body: { data: { applied: true } } })
  t.match(await only(user, cardId), { status: 'cleared', amountCents: 800, clearedCents: 700 })
  t.equal(await user.balance(), 9300)
  t.match(await event('refunded', { id, amountCents: 700 }), { body: { data: { applied: true } } })
  t.equal(await user.balance(), 10_000)
})

t.test('an increment is decided once for its id, also when it comes 6 times at once', async t => {
  const user = await funded()
  const cardId = await user.card()
  const id = await authorized(cardId, 600)
  const incrementId = randomUUID()
  const responses = await Promise.all(Array.from({ length: 6 }, () => increment(id, 100, { incrementId })))
  for (const response of responses)
    t.match(response, { status: 200, body: { data: { decision: { approved: true } } } })
  t.equal(responses.filter(({ body }) => body.data['applied']).length, 1)
  t.equal(await user.balance(), 9300)
  await event('cleared', { id, amountCents: 700 })
  t.match(await increment(id, 100, { incrementId }), approvedAgain, 'still approved after the clearing')
})
const approvedAgain = {
  body: { data: { applied: false, decision: { approved: true, declineReason: null } } },
}

for (const [cap, policy] of Object.entries({
  maxAuthAmountCents: { maxAuthAmountCents: 1000 },
  'limits[] on one operation': {
    limits: [{ operations: ['cards.authorize'], window: 'operation', maxCents: 1000 }],
  },
}))
  t.test(`${cap} binds a payment together with its increments: at the cap, and a cent above`, async t => {
    const owner = await funded()
    const { token } = await keyBelow(host.send, owner.token, { ...policy, dailySpendCapCents: 2000 })
    const cardId = await cardUser(host.send, token).card()
    const id = await authorized(cardId, 900)
    t.match(await increment(id, 900), declined('policy_blocked'))
    t.match(await increment(id, 60), approved)
    t.match(await increment(id, 41), declined('policy_blocked'))
    t.match(await increment(id, 40), approved)
    t.match(await increment(id, 1), declined('policy_blocked'))
    // Counters take the increments alone: 1,000 of 2,000 are used.
    await authorized(cardId, 1000)
    t.equal(await owner.balance(), 8000)
  })

t.test('increments at once stay within the cap of their key', async t => {
  const owner = await funded()
  const { token } = await keyBelow(host.send, owner.token, { dailySpendCapCents: 1050 })
  const maker = cardUser(host.send, token)
  const ids = [await authorized(await maker.card(), 50), await authorized(await maker.card(), 100)]
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => increment(ids[n % 2] as string, 100)),
  )
  const passed = responses.filter(({ body }) => (body.data['decision'] as { approved: boolean }).approved)
  t.equal(passed.length, 9)
  t.equal(await owner.balance(), 10_000 - 1050)
})

t.test('an increment of an unknown authorization, or of another provider, is 404', async t => {
  const unknown = { status: 404, body: { error: 'not_found' } }
  const user = await funded()
  const id = await authorized(await user.card(), 600)
  t.match(await increment('unknown', 1), unknown)
  t.match(await increment(id, 1, {}, 'other'), unknown)
  t.match(await increment(id, 0), { status: 400, body: { field: 'data.amountCents' } })
  t.match(await event('increment', { id, amountCents: 1, currency: 'USD' }), {
    status: 400,
    body: { field: 'data.incrementId' },
  })
})

t.test('of 20 requests at once with one id and two cards, those with one card are approved', async t => {
  const user = await funded()
  const data = networkRequest(await user.card(), { amountCents: 100 })
  const other = { ...data, cardId: await user.card() }
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => event('request', n % 2 === 0 ? data : other)),
  )
  const reasons = responses.map(
    ({ body }) => (body.data['decision'] as { declineReason: string | null }).declineReason,
  )
  const first = reasons.filter((_, n) => n % 2 === 0)
  const second = reasons.filter((_, n) => n % 2 === 1)
  const [approved, denied] = first[0] === null ? [first, second] : [second, first]
  t.same(approved, Array(10).fill(null))
  t.same(denied, Array(10).fill('conflict'))
  t.equal(await user.balance(), 9900)
  const reports = host.failures.splice(0).map(String)
  t.ok(reports.length >= 10, 'each conflict is reported, also when its request is sent again')
  t.same(
    reports.filter(report => !report.includes('repeated the id of')),
    [],
  )
})
