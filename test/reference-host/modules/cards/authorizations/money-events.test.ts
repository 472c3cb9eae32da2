// What processors send about money: parts, several ids, repetitions, conflicts, and events without an object.
import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { cardUser, networkEvent, networkRequest, type CardUser } from '../../../harness/card-payments.ts'
import { bearer, bootstrapUser, openTestHost, type HttpResponse } from '../../../../harness/host.ts'
import { WEBHOOK_SECRET } from '../../../harness/kyc.ts'

const HOUR_MS = 3_600_000
const clock = manualClock(Date.now())
const host = await openTestHost(
  t,
  { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` },
  clock,
)

const event = (type: string, data: object, id?: string): Promise<HttpResponse> =>
  networkEvent(
    host.send,
    { type: `authorization.${type}`, data },
    { now: clock.now(), ...(id === undefined ? {} : { id }) },
  )
const outcome = ({ status, body }: HttpResponse): unknown => (status === 200 ? body.data['outcome'] : status)

interface PayingUser extends CardUser {
  readonly cardId: string
  /** The network's id of the payment. */
  readonly id: string
  lock(): Promise<void>
}

/** A user with 100 dollars and a card, with an approved payment of 2,000 cents. */
async function paying(amountCents = 2000): Promise<PayingUser> {
  const token = (await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())).token
  const user = cardUser(host.send, token)
  await user.fund(10_000)
  const cardId = await user.card({ limit: { amount: 5000, frequency: 'per24HourPeriod' } })
  const data = networkRequest(cardId, { amountCents })
  t.match(await event('request', data), { body: { data: { decision: { approved: true } } } })
  return {
    ...user,
    cardId,
    id: data.id,
    async lock() {
      const options = {
        method: 'PATCH',
        body: { status: 'locked' },
        headers: { ...bearer(token), 'idempotency-key': randomUUID() },
      }
      t.equal((await host.send(`/user/v1/cards/${cardId}`, options)).status, 200)
    },
  }
}
const payment = async (user: PayingUser): Promise<Record<string, unknown>> =>
  ((await user.read(`/cards/${user.cardId}/authorizations`)).body.data['authorizations'] as never[])[0]!
const attention = async (): Promise<number> => {
  await host.chore('count rows with attention')
  // Rendered metrics are reused for a second.
  clock.advance(1000)
  const text = await (await fetch(`${host.url}/metrics`)).text()
  return [...text.matchAll(/rows_with_attention\{kind="[a-z_]+"\} (\d+)/g)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  )
}
const logged = (): string => host.failures.splice(0).map(String).join('\n')

t.test('a reversal of a part frees that part only', async t => {
  const user = await paying()
  t.equal(outcome(await event('reversed', { id: user.id, reversalId: 'r1', amountCents: 500 })), 'applied')
  t.equal(await user.balance(), 8500)
  t.match(await payment(user), { status: 'authorized', heldCents: 1500, amountCents: 2000 })
  t.equal(outcome(await event('reversed', { id: user.id, reversalId: 'r2', amountCents: 500 })), 'applied')
  t.equal(outcome(await event('cleared', { id: user.id, amountCents: 1000 })), 'applied')
  t.match(await payment(user), { status: 'cleared', heldCents: 0, clearedCents: 1000 })
  t.equal(await user.balance(), 9000)
})

t.test('a reversal of what a clearing has returned already is no excess, and another one is', async t => {
  const user = await paying()
  const before = await attention()
  const reverse = (reversalId: string, amountCents: number): Promise<HttpResponse> =>
    event('reversed', { id: user.id, reversalId, amountCents })
  t.equal(outcome(await reverse('r1', 300)), 'applied')
  t.equal(outcome(await event('cleared', { id: user.id, amountCents: 1000 })), 'applied')
  t.equal(await user.balance(), 9000, 'the clearing returned 700')
  t.equal(outcome(await reverse('r2', 700)), 'ignored')
  t.equal(await attention(), before)
  t.equal(outcome(await reverse('r3', 1)), 'applied')
  t.equal(await attention(), before + 1)
  t.equal(await user.balance(), 9000)
})

t.test('several clearings of one authorization are each debited', async t => {
  const user = await paying()
  const clear = (clearingId: string, amountCents: number, final?: boolean): Promise<HttpResponse> =>
    event('cleared', { id: user.id, clearingId, amountCents, ...(final === undefined ? {} : { final }) })
  t.equal(outcome(await clear('c1', 700, false)), 'applied')
  t.match(await payment(user), { status: 'authorized', heldCents: 1300, clearedCents: 700 })
  t.equal(outcome(await clear('c1', 700, false)), 'repeated', 'under another message id')
  t.equal(outcome(await clear('c2', 700, false)), 'applied', 'an equal amount, another id')
  t.equal(outcome(await clear('c3', 400, true)), 'applied')
  t.match(await payment(user), { status: 'cleared', heldCents: 0, clearedCents: 1800 })
  t.equal(await user.balance(), 8200)
})

t.test('one refund under two message ids is credited once, two refunds of equal amounts twice', async t => {
  const user = await paying()
  await event('cleared', { id: user.id, amountCents: 2000 })
  const refund = (refundId: string): Promise<HttpResponse> =>
    event('refunded', { id: user.id, refundId, amountCents: 300 })
  t.equal(outcome(await refund('f1')), 'applied')
  t.equal(outcome(await refund('f1')), 'repeated')
  t.equal(await user.balance(), 8300)
  t.equal(outcome(await refund('f2')), 'applied')
  t.equal(await user.balance(), 8600)
})

t.test('an account check of 0 holds nothing, and is decided as a payment is', async t => {
  const user = await paying(0)
  t.equal(await user.balance(), 10_000)
  t.match(await payment(user), { status: 'authorized', amountCents: 0, heldCents: 0 })
  t.equal(outcome(await event('cleared', { id: user.id, amountCents: 0 })), 'applied')
  t.match(await payment(user), { status: 'cleared' })
  await user.lock()
  t.match(await event('request', networkRequest(user.cardId, { amountCents: 0 })), {
    body: { data: { decision: { approved: false, declineReason: 'card_locked' } } },
  })
})

t.test('a clearing of 0 gives the hold back', async t => {
  const user = await paying()
  t.equal(outcome(await event('cleared', { id: user.id, amountCents: 0 })), 'applied')
  t.equal(await user.balance(), 10_000)
  t.match(await payment(user), { status: 'cleared', heldCents: 0, clearedCents: 0 })
})

t.test('a refund before its clearing is 404 until something has cleared, and then credited', async t => {
  const user = await paying()
  const refund = { id: user.id, refundId: 'f1', amountCents: 500 }
  const before = await attention()
  t.equal(outcome(await event('refunded', refund, 'early')), 404)
  t.equal(outcome(await event('refunded', refund, 'early')), 404)
  t.equal(await attention(), before)
  await event('cleared', { id: user.id, amountCents: 2000 })
  t.equal(outcome(await event('refunded', refund, 'early')), 'applied')
  t.equal(outcome(await event('refunded', refund, 'early')), 'repeated')
  t.equal(await user.balance(), 8500)
})

t.test(
  'a refund that stays without a clearing is kept with attention after a day, and found by it',
  async t => {
    const user = await paying()
    const refund = { id: user.id, refundId: 'f1', amountCents: 500 }
    const before = await attention()
    t.equal(outcome(await event('refunded', refund, 'never')), 404)
    clock.advance(25 * HOUR_MS)
    t.equal(await attention(), before + 1, 'whether it is sent again or not')
    t.equal(outcome(await event('refunded', refund, 'never')), 'kept')
    t.equal(outcome(await event('refunded', refund, 'never')), 'repeated')
    await event('cleared', { id: user.id, amountCents: 2000 })
    t.equal(await attention(), before)
    t.equal(outcome(await event('refunded', refund, 'other')), 'repeated')
  },
)

t.test('money of a payment that never had a request is kept with attention, once', async t => {
  const user = await paying()
  const before = await attention()
  for (const [type, data] of [
    ['cleared', { id: 'offline-1', clearingId: 'c', amountCents: 900, cardId: user.cardId }],
    ['refunded', { id: 'unlinked-1', refundId: 'f', amountCents: 800 }],
  ] as const) {
    const response = await event(type, data)
    t.match(response, { status: 200, body: { data: { applied: false, outcome: 'kept' } } })
    t.equal(outcome(await event(type, data)), 'kept', 'under another message id')
  }
  t.equal(await attention(), before + 2)
  t.equal(await user.balance(), 8000)
})

t.test('a request that arrives after its clearing finds it', async t => {
  const user = await paying()
  const before = await attention()
  const data = networkRequest(user.cardId, { amountCents: 1000 })
  await event('cleared', { id: data.id, clearingId: 'c', amountCents: 900 })
  await event('refunded', { id: data.id, refundId: 'f', amountCents: 100 })
  t.equal(await attention(), before + 2)
  t.match(await event('request', data), { body: { data: { decision: { approved: true } } } })
  t.match(await payment(user), { status: 'cleared', clearedCents: 900, refundedCents: 100 })
  t.equal(await user.balance(), 10_000 - 2000 - 900 + 100)
  t.equal(await attention(), before)
})

t.test(
  'a request that is declined after its clearing debits nothing, and a person must look at it',
  async t => {
    const user = await paying()
    const before = await attention()
    const data = networkRequest(user.cardId, { amountCents: 100_000 })
    t.equal(outcome(await event('cleared', { id: data.id, clearingId: 'c', amountCents: 900 })), 'kept')
    t.match(await event('request', data), {
      body: { data: { decision: { approved: false, declineReason: 'card_limit_exceeded' } } },
    })
    t.equal(outcome(await event('cleared', { id: data.id, clearingId: 'c', amountCents: 900 })), 'repeated')
    t.equal(await user.balance(), 8000)
    t.equal(await attention(), before + 1)
  },
)

t.test('a request that arrives after its reversal is declined', async t => {
  const user = await paying()
  const data = networkRequest(user.cardId, { amountCents: 1000 })
  t.equal(outcome(await event('reversed', { id: data.id })), 'kept')
  t.match(await event('request', data), {
    body: { data: { decision: { approved: false, declineReason: 'reversed' } } },
  })
  t.equal(await user.balance(), 8000)
})

t.test(
  'another event under the id of a message is a conflict: nothing is applied, and attention says so',
  async t => {
    const [one, other] = [await paying(), await paying()]
    const before = await attention()
    t.equal(outcome(await event('cleared', { id: one.id, amountCents: 2000 }, 'shared')), 'applied')
    for (const [type, data] of [
      ['cleared', { id: other.id, amountCents: 2000 }],
      ['reversed', { id: other.id }],
      ['refunded', { id: one.id, amountCents: 100 }],
    ] as const) {
      t.equal(outcome(await event(type, data, 'shared')), 'conflict', type)
      t.equal(outcome(await event(type, data, 'shared')), 'conflict', 'again')
    }
    t.equal(await attention(), before + 3, 'each once')
    t.match(logged(), /as message shared, with an id that it gave to another content; nothing was applied/)
    t.equal(await other.balance(), 8000)
    t.equal(await one.balance(), 8000)
    t.equal(outcome(await event('cleared', { id: one.id, amountCents: 2000 }, 'shared')), 'repeated')
  },
)

t.test('another amount under the id of the money is a conflict', async t => {
  const user = await paying()
  const before = await attention()
  const clear = (amountCents: number): Promise<HttpResponse> =>
    event('cleared', { id: user.id, clearingId: 'c1', amountCents, final: false })
  t.equal(outcome(await clear(500)), 'applied')
  t.equal(outcome(await clear(600)), 'conflict')
  t.equal(await attention(), before + 1)
  t.match(await payment(user), { clearedCents: 500, heldCents: 1500 })
  t.equal(outcome(await event('cleared', { id: user.id, amountCents: 1, cardId: 'card_other' })), 'conflict')
  logged()
})

const UNKNOWN = ['amount', 'currency', 'tipCents', 'quantity', 'cardholder', 'final_']
for (const [type, data] of [
  ['request', networkRequest('card_1')],
  ['increment', { id: 'a', incrementId: 'b', amountCents: 1, currency: 'USD' }],
  ['cleared', { id: 'a', amountCents: 1 }],
  ['reversed', { id: 'a' }],
  ['refunded', { id: 'a', amountCents: 1 }],
] as const)
  t.test(`refuses a member of authorization.${type} that it does not understand`, async (t: Test) => {
    for (const name of UNKNOWN.filter(each => !(each in data))) {
      const response = await event(type, { ...data, [name]: 500 })
      t.match(response, { status: 400, body: { message: new RegExp(`must not have the member ${name}`) } })
    }
    if ('merchant' in data)
      t.match(await event(type, { ...data, merchant: { ...(data.merchant as object), feeCents: 1 } }), {
        status: 400,
      })
  })
