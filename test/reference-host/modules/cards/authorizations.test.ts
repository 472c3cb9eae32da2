import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import {
  authorizationOf,
  cardUser,
  keyBelow,
  networkEvent,
  networkRequest,
  type CardUser,
} from '../../harness/card-payments.ts'
import { bearer, bootstrapUser, startTestHost } from '../../../harness/host.ts'
import { WEBHOOK_SECRET } from '../../harness/kyc.ts'
import { partnerUser } from '../../harness/partner.ts'

const clock = manualClock(Date.now())
const env = {
  RATE_LIMITS: 'off',
  PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET},other=${WEBHOOK_SECRET}`,
}
const host = await startTestHost(env, clock)
t.teardown(() => host.close())

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

t.test('a payment is authorized, cleared and refunded, and the balance follows', async t => {
  const user = await funded()
  const cardId = await user.card()
  const merchant = { name: 'Café', city: 'Paris', country: 'FR' }
  const paid = await user.pay(cardId, { amountCents: 1000, merchant })
  t.match(paid, { cardId, status: 'authorized', amountCents: 1000, declineReason: null, declineRule: null })
  t.same(paid.merchant, { ...merchant, mcc: '5734' })
  t.equal(await user.balance(), 9000)
  t.match(authorizationOf(await user.later(paid.id, 'clear', { amountCents: 700 })), {
    status: 'cleared',
    clearedCents: 700,
    refundedCents: 0,
  })
  t.equal(await user.balance(), 9300)
  await user.later(paid.id, 'refund', { amountCents: 200 })
  const { history, ...last } = authorizationOf(await user.later(paid.id, 'refund'))
  t.match(last, { status: 'cleared', clearedCents: 700, refundedCents: 700 })
  t.equal(await user.balance(), 10_000)
  t.same(
    history.map(({ from, to, cause, amountCents }) => [from, to, cause, amountCents]),
    [
      [null, 'authorized', 'requested', 1000],
      ['authorized', 'cleared', 'cleared', 700],
      ['cleared', 'cleared', 'refunded', 200],
      ['cleared', 'cleared', 'refunded', 500],
    ],
  )
})

t.test('a reversal gives all back, and what is not allowed is 400 with its field', async t => {
  const user = await funded()
  const { id } = await user.pay(await user.card(), { amountCents: 1000 })
  const denied = (field: string): object => ({ status: 400, body: { error: 'invalid_request', field } })
  t.match(await user.later(id, 'refund'), denied('id'))
  t.match(await user.later(id, 'clear', { amountCents: 1001 }), denied('amountCents'))
  t.match(authorizationOf(await user.later(id, 'reverse')), { status: 'reversed', clearedCents: 0 })
  t.equal(await user.balance(), 10_000)
  for (const verb of ['clear', 'reverse', 'refund'] as const)
    t.match(await user.later(id, verb), denied('id'), verb)
})

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

t.test('the same request makes its authorization once, also after its record has ended', async t => {
  const user = await funded()
  const cardId = await user.card()
  const first = await user.pay(cardId, {}, 'key-that-ends')
  clock.advance(25 * 3_600_000)
  await host.chore('collect garbage')
  const opened = await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': user.key } })
  const later = cardUser(host.send, opened.body['sessionToken'] as string)
  t.equal((await later.later(first.id, 'reverse')).status, 200)
  t.match(await later.pay(cardId, {}, 'key-that-ends'), { id: first.id, status: 'reversed' })
  t.equal(await later.balance(), 10_000)
})

t.test('lists the authorizations of a card, newest first, page by page', async t => {
  const user = await funded()
  const [cardId, other] = [await user.card(), await user.card()]
  const made = []
  for (let n = 0; n < 3; n += 1) made.unshift(await user.pay(cardId))
  await user.pay(other)
  const page = await user.read(`/cards/${cardId}/authorizations?limit=2`)
  t.same(page.body.data['authorizations'], made.slice(0, 2))
  const next = await user.read(
    `/cards/${cardId}/authorizations?cursor=${page.body.data['nextCursor'] as string}`,
  )
  t.same(next.body.data, { authorizations: made.slice(2), nextCursor: null })
  const stranger = await funded()
  t.match(await stranger.read(`/cards/${cardId}/authorizations`), {
    status: 404,
    body: { error: 'not_found' },
  })
})

t.test('ids of another account are 404, like ids that never existed', async t => {
  const [user, stranger] = [await funded(), await funded()]
  const cardId = await user.card()
  const { id } = await user.pay(cardId)
  const bodies = []
  for (const of of [cardId, 'card_unknown'])
    bodies.push(await stranger.write('/sandbox/authorizations', { cardId: of, amountCents: 1 }))
  for (const of of [id, 'auth_unknown'])
    for (const verb of ['clear', 'reverse', 'refund'] as const) bodies.push(await stranger.later(of, verb))
  t.same(new Set(bodies.map(({ status }) => status)), new Set([404]))
  t.equal(new Set(bodies.slice(0, 2).map(({ body }) => JSON.stringify(body))).size, 1)
  t.equal(new Set(bodies.slice(2).map(({ body }) => JSON.stringify(body))).size, 1)
  t.match(bodies[0], { body: { field: 'cardId' } })
})

t.test('partners simulate, too, and read 409 where the state is wrong', async t => {
  const user = await partnerUser(host, 'card-payer', ['cards.read', 'cards.write'])
  const { body } = await user('/partner/v1/cards?limit=100')
  const cards = body.data['cards'] as { cardId: string; status: string; limit: unknown }[]
  const pay = (cardId: string, key: string) =>
    user('/partner/v1/sandbox/authorizations', {
      body: { cardId, amountCents: 1 },
      headers: { 'idempotency-key': key },
    })
  for (const [status, reason] of [
    ['active', 'insufficient_funds'],
    ['locked', 'card_locked'],
    ['not_activated', 'card_not_activated'],
    ['canceled', 'card_canceled'],
  ]) {
    const card = cards.find(each => each.status === status)
    if (!card) continue
    const { id, ...row } = authorizationOf(await pay(card.cardId, `partner-${status}`))
    t.match(row, { status: 'declined', declineReason: reason })
    const cleared = await user(`/partner/v1/sandbox/authorizations/${id}/clear`, {
      body: {},
      headers: { 'idempotency-key': `clear-${status}` },
    })
    t.match(cleared, { status: 409, body: { error: 'invalid_state' } })
  }
  t.match(await pay('card_unknown', 'partner-unknown'), { status: 404, body: { error: 'not_found' } })
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

t.test('a revoked key leaves its last cap on cards that are kept', async t => {
  const owner = await funded()
  const { keyId, token } = await keyBelow(host.send, owner.token, { dailySpendCapCents: 1000 })
  const cardId = await cardUser(host.send, token).card()
  t.match(await owner.pay(cardId, { amountCents: 600 }), { status: 'authorized' })
  const revoked = await ownKey(owner, `${keyId}?cards=keep`, { method: 'DELETE' })
  t.equal(revoked.status, 200)
  const blocked = { status: 'declined', declineReason: 'policy_blocked', declineRule: 'dailySpendCapCents' }
  t.match(await owner.pay(cardId, { amountCents: 401 }), blocked)
  t.match(await owner.pay(cardId, { amountCents: 400 }), { status: 'authorized' }, 'the cap is as before')
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

t.test('a card that cancels after its first payment declines the second', async t => {
  const user = await funded()
  const proposed = await user.write('/cards/disposable/proposals', { amountCents: 700 })
  const { proposalId } = proposed.body.data['disposable'] as { proposalId: string }
  const executed = await user.write('/cards/disposable/execute', { proposalId })
  const { id } = executed.body.data['card'] as { id: string }
  t.match(await user.pay(id, { amountCents: 701 }), { declineReason: 'card_limit_exceeded' })
  const paid = await user.pay(id, { amountCents: 700 })
  t.match(paid, { status: 'authorized' })
  t.match(await user.pay(id, { amountCents: 1 }), { declineReason: 'card_canceled' })
  t.match(authorizationOf(await user.later(paid.id, 'clear')), { status: 'cleared' })
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
  t.match(await event('request', { ...data, amountCents: -1 }), {
    status: 400,
    body: { field: 'data.amountCents' },
  })
})

t.test(
  'a request that is repeated after its reversal is not approved; after its clearing it still is',
  async t => {
    const user = await funded()
    const cardId = await user.card()
    const decisionAgain = async (end: 'reversed' | 'cleared'): Promise<unknown> => {
      const data = networkRequest(cardId, { amountCents: 600 })
      await event('request', data)
      await event(end, { id: data.id, ...(end === 'cleared' ? { amountCents: 600 } : {}) })
      return (await event('request', data)).body.data
    }
    const reversed = { approved: false, authorizationId: String, declineReason: 'reversed' }
    t.match(await decisionAgain('reversed'), { applied: false, decision: reversed })
    t.equal(await user.balance(), 10_000)
    t.match(await decisionAgain('cleared'), {
      applied: false,
      decision: { approved: true, declineReason: null },
    })
  },
)

t.test('events clear, reverse and refund once, and excess moves nothing', async t => {
  const user = await funded()
  const cardId = await user.card()
  const [one, two] = [
    networkRequest(cardId, { amountCents: 600 }),
    networkRequest(cardId, { amountCents: 300 }),
  ]
  for (const data of [one, two]) await event('request', data)
  const applied = (yes: boolean): object => ({ status: 200, body: { data: { applied: yes } } })
  const clear = { id: one.id, amountCents: 650 }
  t.match(await event('cleared', clear, { id: 'clear-1' }), applied(true))
  t.match(await event('cleared', clear, { id: 'clear-1' }), applied(false))
  t.equal(await user.balance(), 9100)
  t.match(await event('reversed', { id: one.id }), applied(false), 'a cleared one cannot be reversed')
  t.match(await event('reversed', { id: two.id }), applied(true))
  t.match(await event('reversed', { id: two.id }), applied(false))
  t.match(await event('cleared', { id: two.id, amountCents: 300 }), applied(true), 'too late: kept as excess')
  const refund = { id: one.id, amountCents: 100 }
  t.match(await event('refunded', refund, { id: 'refund-1' }), applied(true))
  t.match(await event('refunded', refund, { id: 'refund-1' }), applied(false))
  t.equal(await user.balance(), 9500)
  for (const type of ['cleared', 'reversed', 'refunded']) {
    const data = { id: 'unknown', ...(type === 'reversed' ? {} : { amountCents: 1 }) }
    const kept = { status: 200, body: { data: { applied: false, outcome: 'kept' } } }
    t.match(await event(type, data), kept, type)
    const others = { ...data, id: one.id }
    t.match(await event(type, others, { name: 'other' }), kept, 'an id of another provider')
  }
  const { body } = await user.read(`/cards/${cardId}/authorizations`)
  const [second, first] = body.data['authorizations'] as { history: { cause: string }[] }[]
  t.same(
    first?.history.map(({ cause }) => cause),
    ['requested', 'cleared', 'excess', 'refunded'],
  )
  t.same(
    second?.history.map(({ cause }) => cause),
    ['requested', 'reversed', 'excess'],
  )
  await host.chore('count rows with attention')
  const metrics = await (await fetch(`${host.url}/metrics`)).text()
  t.match(metrics, /rows_with_attention\{kind="authorization"\} 2/)
  t.match(metrics, /authorizations_total\{outcome="declined",reason="suspected_fraud"\} [1-9]/)
  t.match(metrics, /authorizations_total\{outcome="authorized",reason=""\} [1-9]/)
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

t.test('refunds in parts give back what was cleared and no more, the rest is excess', async t => {
  const user = await funded()
  const cardId = await user.card()
  const one = networkRequest(cardId, { amountCents: 600 })
  await event('request', one)
  await event('cleared', { id: one.id, amountCents: 600 })
  const before = await user.balance()
  const refund = async (amountCents: number): Promise<number> => {
    await event('refunded', { id: one.id, amountCents })
    return (await user.balance()) - before
  }
  t.equal(await refund(400), 400)
  t.equal(await refund(300), 600)
  t.equal(await refund(1), 600)
  const { body } = await user.read(`/cards/${cardId}/authorizations`)
  const [{ history }] = body.data['authorizations'] as [{ history: { cause: string; amountCents: number }[] }]
  t.same(
    history.map(({ cause, amountCents }) => [cause, amountCents]),
    [
      ['requested', 600],
      ['cleared', 600],
      ['refunded', 400],
      ['refunded', 200],
      ['excess', 100],
      ['excess', 1],
    ],
  )
})
