import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bootstrapUser, openTestHost, type WalletUser, sessionOf } from '../../../../harness/host.ts'
import { moneyUser, payinOf, type MoneyUser } from '../../../harness/money.ts'

const DAY_MS = 86_400_000
const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const host = await openTestHost(t, {}, clock)

const newUser = async (extra: Record<string, unknown> = {}): Promise<MoneyUser & WalletUser> => {
  const user = await bootstrapUser(host.send, { sessionTtlSeconds: 86_400, ...extra }, clock.now())
  return { ...user, ...moneyUser(host.send, user) }
}
const CONFIRM = '/subscriptions/payin/confirm-balance'
const checkout = async (user: MoneyUser, plan = 'basic'): Promise<string> =>
  payinOf(await user.write('/subscriptions/checkout', { plan })).id

t.test('a checkout creates a subscription and the pay-in of its first period', async t => {
  const user = await newUser()
  const { status, body } = await user.write('/subscriptions/checkout', {
    plan: 'pro',
    amountCents: 1,
    note: 'n',
  })
  t.equal(status, 200)
  const { subscription, payin } = body.data as Record<string, Record<string, unknown>>
  t.match(subscription, {
    id: /^sub_/,
    plan: 'pro',
    status: 'incomplete',
    amountCents: 2500,
    paidThrough: null,
  })
  t.match(payin, {
    status: 'awaiting_payment',
    plan: 'pro',
    amountCents: 2500,
    subscriptionId: subscription?.['id'],
  })
  const listed = await user.read('/subscriptions')
  t.same(listed.body.data['subscriptions'], [subscription])
})

t.test('a settled pay-in moves its price from the balance once, and starts the subscription', async t => {
  const user = await newUser()
  await user.fund(1200)
  const payinId = await checkout(user)
  const paid = await user.write(CONFIRM, { payinId })
  t.match(payinOf(paid), { status: 'settled', method: 'balance' })
  t.equal(await user.balance(), 700)
  t.match((await user.read('/subscriptions')).body.data['subscriptions'], [
    { status: 'active', paidThrough: '2026-02-28T12:00:00.000Z' },
  ])
  const again = await user.write(CONFIRM, { payinId })
  t.match(payinOf(again), { status: 'settled' }, 'another key finds it settled')
  t.equal(await user.balance(), 700, 'and moves nothing')
  t.match((await user.payin(payinId)).history, [
    { from: null, to: 'awaiting_payment', cause: 'created' },
    { from: 'awaiting_payment', to: 'settled', cause: 'paid_from_balance' },
  ])
})

t.test('accepts as many of 10 simultaneous payments as the balance covers', async t => {
  const user = await newUser()
  await user.fund(1500)
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1) ids.push(await checkout(user))
  const responses = await Promise.all([...ids, ...ids].map(payinId => user.write(CONFIRM, { payinId })))
  const settled = await Promise.all(ids.map(id => user.payin(id)))
  t.equal(settled.filter(({ status }) => status === 'settled').length, 3)
  t.same(new Set(responses.map(({ status }) => status)), new Set([200, 400]))
  t.equal(await user.balance(), 0)
})

t.test('a pay-in that fills the balance cannot be paid from it', async t => {
  const user = await newUser()
  t.match(await user.write('/subscriptions/payin', { amountCents: 500, method: 'balance' }), {
    status: 400,
    body: { field: 'method' },
  })
  const { id } = payinOf(await user.write('/subscriptions/payin', { amountCents: 500 }))
  t.match(await user.write(CONFIRM, { payinId: id }), { status: 400, body: { field: 'payinId' } })
  const named = { payinId: id, txHash: `0x${'ab'.repeat(32)}` }
  const denied = await user.write('/subscriptions/payin/confirm', named)
  t.match(
    denied,
    { status: 400, body: { field: 'payinId', message: /no address/ } },
    'no receiver is configured',
  )
})

t.test('responds with 404 for unknown ids and for other accounts’ records', async t => {
  const [user, other] = [await newUser(), await newUser()]
  const payinId = await checkout(user)
  const [{ id }] = (await user.read('/subscriptions')).body.data['subscriptions'] as [{ id: string }]
  for (const response of [
    await other.write('/subscriptions/payin', { subscriptionId: id }),
    await other.write(CONFIRM, { payinId }),
    await other.write('/subscriptions/payin/confirm', { payinId, txHash: `0x${'ab'.repeat(32)}` }),
    await other.read(`/subscriptions/payins/${payinId}`),
    await user.write(CONFIRM, { payinId: 'payin_none' }),
  ]) {
    t.match(response, { status: 404, body: { error: 'not_found' } })
  }
  t.same((await other.read('/subscriptions')).body.data, { subscriptions: [], nextCursor: null })
  for (const [path, field] of [
    ['/subscriptions/checkout', 'plan'],
    ['/subscriptions/payin', 'plan'],
  ] as const) {
    t.match(await user.write(path, { plan: 'gold' }), { status: 400, body: { field, message: /basic, pro/ } })
  }
})

t.test('a pay-in holds its price under the caps until it closes', async t => {
  const user = await newUser({ policy: { dailySpendCapCents: 1000 } })
  await user.fund(5000)
  const first = await checkout(user)
  await checkout(user)
  const blocked = await user.write('/subscriptions/checkout', { plan: 'basic' })
  t.match(blocked, {
    status: 403,
    body: { error: 'policy_blocked', rule: 'dailySpendCapCents', remaining: 0 },
  })
  t.match(
    (await user.read('/subscriptions')).body.data['subscriptions'],
    { length: 2 },
    'no part of it is stored',
  )
  await user.write(CONFIRM, { payinId: first })
  t.match(await user.write('/subscriptions/checkout', { plan: 'basic' }), { status: 403 }, 'spend counts too')
})

t.test('an unpaid pay-in cannot be paid from its deadline on, and its closing releases its hold', async t => {
  const user = await newUser({
    policy: { limits: [{ operations: ['subscriptions.*'], maxCents: 500, window: 'total' }] },
  })
  await user.fund(5000)
  const payinId = await checkout(user)
  const { expiresAt } = await user.payin(payinId)
  clock.set(Date.parse(expiresAt) - 1)
  const renewed = moneyUser(host.send, { token: await sessionOf(host.send, user.key) })
  await host.chore('expire pay-ins')
  t.match(await renewed.payin(payinId), { status: 'awaiting_payment' })
  clock.set(Date.parse(expiresAt))
  t.match(await renewed.write(CONFIRM, { payinId }), { status: 400, body: { message: /expired/ } })
  await Promise.all([host.chore('expire pay-ins'), host.chore('expire pay-ins')])
  t.match(await renewed.payin(payinId), {
    status: 'expired',
    history: [{}, { from: 'awaiting_payment', to: 'expired', cause: 'deadline_passed' }],
  })
  t.match(await renewed.write(CONFIRM, { payinId }), { status: 400, body: { message: /is expired/ } })
  t.equal(await renewed.balance(), 5000)
  t.ok(await checkout(renewed), 'the hold is released')
})

t.test('simultaneous expiry rounds close each pay-in once', async t => {
  const cap = { limits: [{ operations: ['subscriptions.*'], maxCents: 40, window: 'total' }] }
  const user = await newUser({ policy: cap })
  const made: string[] = []
  for (let n = 0; n < 40; n += 1) {
    made.push(payinOf(await user.write('/subscriptions/payin', { amountCents: 1 })).id)
  }
  t.equal((await user.write('/subscriptions/payin', { amountCents: 1 })).status, 403)
  clock.set(Date.parse((await user.payin(made.at(-1) as string)).expiresAt))
  await Promise.all(Array.from({ length: 6 }, () => host.chore('expire pay-ins')))
  const later = moneyUser(host.send, { token: await sessionOf(host.send, user.key) })
  const histories = await Promise.all(made.map(async id => (await later.payin(id)).history))
  t.same(new Set(histories.map(history => history?.length)), new Set([2]), 'each closed once')
  t.same(new Set(histories.map(history => history?.at(-1)?.to)), new Set(['expired']))
  t.equal(
    (await later.write('/subscriptions/payin', { amountCents: 40 })).status,
    200,
    'all holds are released',
  )
  t.equal(
    (await later.write('/subscriptions/payin', { amountCents: 1 })).status,
    403,
    'and no more than once',
  )
})

t.test('a subscription is past due once its term has ended, and a late renewal keeps its day', async t => {
  const user = await newUser()
  const began = clock.now()
  await user.fund(5000)
  await user.write(CONFIRM, { payinId: await checkout(user) })
  clock.set(clock.now() + 40 * DAY_MS)
  const later = moneyUser(host.send, { token: await sessionOf(host.send, user.key) })
  const [subscription] = (await later.read('/subscriptions')).body.data['subscriptions'] as [
    { id: string; status: string },
  ]
  t.equal(subscription.status, 'past_due')
  const made = payinOf(await later.write('/subscriptions/payin', { subscriptionId: subscription.id }))
  await later.write(CONFIRM, { payinId: made.id })
  // Paid in the second period.
  const end = new Date(began)
  end.setUTCMonth(end.getUTCMonth() + 2)
  t.match((await later.read('/subscriptions')).body.data['subscriptions'], [
    { status: 'active', paidThrough: end.toISOString() },
  ])
})

t.test(
  'a locked or denied account pays nothing from its balance; without an identity check it pays',
  async t => {
    const user = await newUser()
    await user.fund(1200)
    const payinId = await checkout(user)
    const key = randomUUID()
    for (const status of ['locked', 'denied']) {
      t.equal((await user.write('/sandbox/kyc', { status })).status, 200)
      const denied = await user.write(CONFIRM, { payinId }, key)
      t.match(denied, { status: 403, body: { error: 'policy_blocked', rule: 'account_locked' } }, status)
    }
    t.equal(await user.balance(), 1200)
    await user.write('/sandbox/kyc', { status: 'pending' })
    t.match(payinOf(await user.write(CONFIRM, { payinId }, key)), { status: 'settled' }, 'the same key works')
    t.equal(await user.balance(), 700)
  },
)
