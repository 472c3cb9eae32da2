// A card network raises an authorization: each increment is decided like a new payment, once for its own id.
import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import {
  cardUser,
  keyBelow,
  networkEvent,
  networkRequest,
  type CardUser,
  type WireAuthorization,
} from '../../../harness/card-payments.ts'
import { bearer, bootstrapUser, startTestHost, type HttpResponse } from '../../../../harness/host.ts'
import { WEBHOOK_SECRET } from '../../../harness/kyc.ts'

const clock = manualClock(Date.now())
const host = await startTestHost(
  { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET},other=${WEBHOOK_SECRET}` },
  clock,
)
t.teardown(() => host.close())
const event = (type: string, data: object, more: object = {}): Promise<HttpResponse> =>
  networkEvent(host.send, { type: `authorization.${type}`, data }, { now: clock.now(), ...more })

async function funded(cents = 10_000): Promise<CardUser & { readonly token: string }> {
  const { token } = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())
  const user = cardUser(host.send, token)
  await user.fund(cents)
  return { ...user, token }
}
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

t.test('a reversal gives all of it back', async t => {
  const user = await funded()
  const cardId = await user.card()
  const id = await authorized(cardId, 600)
  await increment(id, 150)
  t.match(await event('reversed', { id }), { body: { data: { applied: true } } })
  t.equal(await user.balance(), 10_000)
  t.match(await only(user, cardId), { status: 'reversed', amountCents: 750 })
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

t.test('a repeated increment id with other data is a conflict, and the first decision stays', async t => {
  const user = await funded()
  const cardId = await user.card()
  const id = await authorized(cardId, 600)
  const another = await authorized(await user.card(), 100)
  const incrementId = randomUUID()
  t.match(await increment(id, 100, { incrementId }), approved)
  for (const conflict of [
    () => increment(id, 101, { incrementId }),
    () => increment(id, 100, { incrementId, currency: 'EUR' }),
    () => increment(another, 100, { incrementId }),
  ])
    t.match(await conflict(), declined('conflict'))
  t.equal(await user.balance(), 9200)
  t.match(await increment(id, 100, { incrementId }), approvedAgain)
  await host.chore('count rows with attention')
  const metrics = await (await fetch(`${host.url}/metrics`)).text()
  t.match(metrics, /rows_with_attention\{kind="authorization"\} 2/)
  t.match(metrics, /provider_events_total\{type="authorization.increment",outcome="conflict"\} 3/)
  t.match(metrics, /authorizations_total\{outcome="incremented",reason=""\} [1-9]/)
  t.equal(host.failures.splice(0).length, 3, 'logged')
})

t.test('a request that is repeated after its increment is no conflict', async t => {
  const user = await funded()
  const data = networkRequest(await user.card(), { amountCents: 600 })
  await event('request', data)
  await increment(data.id, 100)
  t.match(await event('request', data), { body: { data: { applied: false, decision: { approved: true } } } })
  t.match(await event('request', { ...data, amountCents: 700 }), declined('conflict'))
  host.failures.splice(0)
})

/** What declines a new payment of 400 cents declines an increment of 400 cents. The authorization of 600 cents stays. */
const DECLINES: Readonly<
  Record<
    string,
    (user: CardUser & { readonly token: string }) => Promise<readonly [cardId: string, change?: object]>
  >
> = {
  currency_not_supported: async user => [await user.card(), { increment: { currency: 'EUR' } }],
  card_locked: async user => [await user.card(), { status: 'locked' }],
  card_canceled: async user => [await user.card(), { status: 'canceled' }],
  insufficient_funds: async user => [await user.card(), { increment: { amountCents: 9401 } }],
  suspected_fraud: async user => [await user.card(), { increment: { declineReason: 'suspected_fraud' } }],
}
for (const [reason, make] of Object.entries(DECLINES))
  t.test(`declines an increment with ${reason} and leaves the authorization as it is`, async t => {
    const user = await funded()
    const [cardId, change = {}] = await make(user)
    const { status, increment: more } = change as { status?: string; increment?: object }
    const id = await authorized(cardId, 600)
    if (status)
      await host.send(`/user/v1/cards/${cardId}`, {
        method: 'PATCH',
        body: { status },
        headers: { ...bearer(user.token), 'idempotency-key': randomUUID() },
      })
    const incrementId = randomUUID()
    t.match(await increment(id, 400, { incrementId, ...more }), declined(reason))
    t.match(await increment(id, 400, { incrementId, ...more }), {
      body: { data: { applied: false, decision: { declineReason: reason } } },
    })
    const { history, ...row } = await only(user, cardId)
    t.match(row, { status: 'authorized', amountCents: 600, declineReason: null })
    t.equal(history.filter(({ cause }) => cause === 'increment_declined').length, 1)
    t.equal(await user.balance(), 9400)
  })

for (const frequency of ['perAuthorization', 'per24HourPeriod', 'per30DayPeriod', 'allTime'])
  t.test(
    `a limit ${frequency} binds a payment with its increments: at the limit, and a cent above`,
    async t => {
      const user = await funded()
      const cardId = await user.card({ limit: { amount: 1000, frequency } })
      const id = await authorized(cardId, 600)
      t.match(await increment(id, 401), declined('card_limit_exceeded'))
      t.match(await increment(id, 300), approved)
      t.match(await increment(id, 101), declined('card_limit_exceeded'))
      t.match(await increment(id, 100), approved)
      t.match(await increment(id, 1), declined('card_limit_exceeded'))
    },
  )

t.test('increments of an old payment count in the period in which they are made', async t => {
  const user = await funded()
  const cardId = await user.card({ limit: { amount: 1000, frequency: 'per24HourPeriod' } })
  const id = await authorized(cardId, 1000)
  clock.advance(86_400_000)
  // The session of the user has ended meanwhile, so its balance is not read.
  t.match(await increment(id, 700), approved)
  t.match(await increment(id, 301), declined('card_limit_exceeded'))
  t.match(await event('cleared', { id, amountCents: 1600 }), { body: { data: { applied: true } } })
  const request = (amountCents: number) => event('request', networkRequest(cardId, { amountCents }))
  t.match(await request(401), declined('card_limit_exceeded'), '600 of the increment cleared')
  t.match(await request(400), approved)
})

t.test('every cap of the key binds increments, and gets back what does not clear', async t => {
  const owner = await funded()
  const policy = {
    dailySpendCapCents: 1000,
    limits: [{ operations: ['cards.authorize'], window: 'day', maxCount: 4 }],
  }
  const { token } = await keyBelow(host.send, owner.token, policy)
  const cardId = await cardUser(host.send, token).card()
  const id = await authorized(cardId, 600)
  t.match(await increment(id, 401), declined('policy_blocked'))
  t.match(await increment(id, 400), approved)
  t.match(await event('cleared', { id, amountCents: 700 }), { body: { data: { applied: true } } })
  const second = await authorized(cardId, 100)
  t.match(await increment(second, 201), declined('policy_blocked'))
  t.match(await increment(second, 100), approved)
  t.match(await increment(second, 1), declined('policy_blocked'), 'the fifth of four')
  t.match(await event('reversed', { id: second }), { body: { data: { applied: true } } })
  t.match(await event('request', networkRequest(cardId, { amountCents: 301 })), declined('policy_blocked'))
  t.match(await event('request', networkRequest(cardId, { amountCents: 300 })), approved)
})

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

for (const [end, data] of [
  ['cleared', { amountCents: 600 }],
  ['reversed', {}],
] as const)
  t.test(`an authorization that is ${end} takes no increment`, async t => {
    const user = await funded()
    const cardId = await user.card()
    const id = await authorized(cardId, 600)
    await event(end, { id, ...data })
    const balance = await user.balance()
    t.match(await increment(id, 100), declined('authorization_not_open'))
    t.equal(await user.balance(), balance)
    t.match(await only(user, cardId), { status: end, amountCents: 600 })
  })

t.test('an increment that is repeated after the reversal is not approved', async t => {
  const user = await funded()
  const id = await authorized(await user.card(), 600)
  const incrementId = randomUUID()
  await increment(id, 100, { incrementId })
  await event('reversed', { id })
  t.match(await increment(id, 100, { incrementId }), declined('reversed'))
})

t.test('an increment of an unknown authorization, or of another provider, is 404', async t => {
  const user = await funded()
  const id = await authorized(await user.card(), 600)
  await expectUnknown(t, await increment('unknown', 1))
  await expectUnknown(t, await increment(id, 1, {}, 'other'))
  t.match(await increment(id, 0), { status: 400, body: { field: 'data.amountCents' } })
  t.match(await event('increment', { id, amountCents: 1, currency: 'USD' }), {
    status: 400,
    body: { field: 'data.incrementId' },
  })
})
async function expectUnknown(t: Test, response: HttpResponse): Promise<void> {
  t.match(response, { status: 404, body: { error: 'not_found' } })
}
