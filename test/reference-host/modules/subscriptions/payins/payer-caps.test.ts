import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost, type WalletUser, sessionOf } from '../../../../harness/host.ts'
import { moneyUser, payinOf, type MoneyUser } from '../../../harness/money.ts'

const CONFIRM = '/subscriptions/payin/confirm-balance'
const LATE = Date.UTC(2026, 2, 10, 23, 59)
const AFTER_MIDNIGHT = Date.UTC(2026, 2, 11, 0, 1)
const clock = manualClock(LATE)
const host = await openTestHost(t, {}, clock)
t.beforeEach(() => clock.set(LATE))

type User = WalletUser & MoneyUser

/** A wallet with 500 dollars. */
async function newOwner(policy?: object): Promise<User> {
  const extra = { sessionTtlSeconds: 86_400, ...(policy ? { policy } : {}) }
  const user = await bootstrapUser(host.send, extra, clock.now())
  const owner = { ...user, ...moneyUser(host.send, user) }
  await owner.fund(50_000)
  return owner
}

async function mint(key: string): Promise<MoneyUser> {
  return moneyUser(host.send, { token: await sessionOf(host.send, key, { ttlSeconds: 3600 }) })
}

/** A key below the owner's, and a session of it. */
async function newAgent(owner: User, policy: object): Promise<MoneyUser> {
  const made = await host.send('/user/v1/keys', { body: { policy }, headers: bearer(owner.token) })
  return mint(made.body['userApiKey'] as string)
}

const askPro = async (user: MoneyUser): Promise<string> =>
  payinOf(await user.write('/subscriptions/payin', { plan: 'pro', method: 'balance' })).id
const pay = (user: MoneyUser, payinId: string): ReturnType<MoneyUser['write']> =>
  user.write(CONFIRM, { payinId })
const blockedBy = (rule: string): object => ({ status: 403, body: { error: 'policy_blocked', rule } })

t.test("denies a capped key that pays its owner's open pay-in, and moves no money", async t => {
  const owner = await newOwner()
  const agent = await newAgent(owner, { maxAuthAmountCents: 1 })
  const payinId = await askPro(owner)
  t.match(await pay(agent, payinId), blockedBy('maxAuthAmountCents'))
  t.match(await owner.payin(payinId), { status: 'awaiting_payment' })
  t.equal(await owner.balance(), 50_000)
  t.match(payinOf(await pay(owner, payinId)), { status: 'settled' }, 'the owner can still pay it')
})

t.test('counts a payment on the day it is paid, not on the day it was requested', async t => {
  const owner = await newOwner({ dailySpendCapCents: 2500 })
  const first = await askPro(owner)
  clock.set(AFTER_MIDNIGHT)
  const second = await askPro(owner)
  t.match(await pay(owner, first), blockedBy('dailySpendCapCents'), 'the second is held for today')
  t.match(payinOf(await pay(owner, second)), { status: 'settled' })
  t.match(await pay(owner, first), blockedBy('dailySpendCapCents'))
  t.equal(await owner.balance(), 47_500)
})

t.test('settles two of six parallel payments under a daily cap of two', async t => {
  const owner = await newOwner()
  const agent = await newAgent(owner, { dailySpendCapCents: 5000 })
  const payins: string[] = []
  for (let n = 0; n < 6; n += 1) payins.push(await askPro(owner))
  const responses = await Promise.all(payins.map(id => pay(agent, id)))
  t.same(
    responses.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 200, 403, 403, 403, 403],
  )
  t.equal(await owner.balance(), 45_000)
})

t.test("releases the requester's hold when another session pays the pay-in", async t => {
  const owner = await newOwner()
  const agent = await newAgent(owner, { dailySpendCapCents: 2500 })
  const first = await askPro(agent)
  t.match(await agent.write('/subscriptions/payin', { plan: 'pro', method: 'balance' }), { status: 403 })
  t.match(payinOf(await pay(owner, first)), { status: 'settled' })
  t.ok(await askPro(agent), 'nothing of the cap is used')
})

for (const operation of ['subscriptions.payin', 'subscriptions.confirmBalance']) {
  t.test(`a limit on ${operation} applies to payments from the balance`, async t => {
    const owner = await newOwner()
    const limits = [{ operations: [operation], maxCents: 2500, window: 'total' }]
    const agent = await newAgent(owner, { limits })
    const [first, second] = [await askPro(owner), await askPro(owner)]
    t.match(payinOf(await pay(agent, first)), { status: 'settled' })
    t.match(await pay(agent, second), blockedBy('limits'))
    t.equal(await owner.balance(), 47_500)
  })
}

t.test('a limit on checkouts counts a paid checkout and no other pay-in', async t => {
  const owner = await newOwner({
    limits: [{ operations: ['subscriptions.checkout'], maxCount: 1, window: 'total' }],
  })
  const { id } = payinOf(await owner.write('/subscriptions/checkout', { plan: 'pro' }))
  t.match(payinOf(await pay(owner, id)), { status: 'settled' })
  t.match(await owner.write('/subscriptions/checkout', { plan: 'pro' }), blockedBy('limits'))
  t.match(payinOf(await pay(owner, await askPro(owner))), { status: 'settled' })
})

t.test('a payment beyond the balance leaves the caps unchanged', async t => {
  const owner = await newOwner({ dailySpendCapCents: 60_000 })
  const agent = await newAgent(owner, { dailySpendCapCents: 2500 })
  const payinId = payinOf(await owner.write('/subscriptions/payin', { plan: 'pro', method: 'balance' })).id
  for (let n = 0; n < 20; n += 1) await pay(owner, await askPro(owner))
  t.equal(await owner.balance(), 0)
  t.match(await pay(agent, payinId), { status: 400, body: { field: 'payinId' } })
  await owner.fund(2500)
  t.match(payinOf(await pay(agent, payinId)), { status: 'settled' })
})

t.test(
  'a replay of a payment is checked against limits on the operation that requested the pay-in, too',
  async t => {
    const owner = await newOwner()
    const limits = [{ operations: ['subscriptions.payin'], window: 'operation', maxCents: 2499 }]
    const agent = await newAgent(owner, { limits })
    const payinId = await askPro(owner)
    const key = randomUUID()
    t.match(payinOf(await owner.write(CONFIRM, { payinId }, key)), { status: 'settled' })
    t.match(await agent.write(CONFIRM, { payinId }, key), blockedBy('limits'))
    const again = await owner.write(CONFIRM, { payinId }, key)
    t.equal(again.headers.get('idempotency-replayed'), 'true')
  },
)

t.test(
  'a repeat after the record expired is checked against the limits of the repeating session',
  async t => {
    const owner = await newOwner()
    const agent = await host.send('/user/v1/keys', {
      body: { policy: { maxAuthAmountCents: 2499 } },
      headers: bearer(owner.token),
    })
    const [key, body] = [randomUUID(), { plan: 'pro', method: 'balance' }]
    const { id } = payinOf(await owner.write('/subscriptions/payin', body, key))
    clock.set(LATE + 2 * 86_400_000)
    await host.chore('collect garbage')
    const capped = await mint(agent.body['userApiKey'] as string)
    t.match(await capped.write('/subscriptions/payin', body, key), blockedBy('maxAuthAmountCents'))
    const found = await (await mint(owner.key)).write('/subscriptions/payin', body, key)
    t.equal(payinOf(found).id, id)
  },
)
