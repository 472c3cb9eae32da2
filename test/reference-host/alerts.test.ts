// The event that much of a limit is used, from the amount that reached it to the notification.
import { randomUUID } from 'node:crypto'
import { race } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, openTestHost } from '../harness/host.ts'
import { eventBody } from '#packages/reference-host/dist/modules/webhooks/publish.js'
import { keyBelow } from './harness/card-payments.ts'
import { newMoneyUser } from './harness/money.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const { send } = host
const shop = await newMoneyUser(send)

interface Shown {
  readonly kind: string
  readonly title: string
  readonly text: string
  readonly keyId: string | null
}

/** Funds an account, and returns a function that pays with a key under a policy, and one that lists the alerts. */
async function opened(policy: object, cents = 100_000) {
  const owner = await newMoneyUser(send)
  await owner.fund(cents)
  const agent = await keyBelow(send, owner.token, policy)
  const pay = (amountCents: number) =>
    send('/user/v1/payments', {
      body: { to: { walletAddress: shop.address }, amountCents },
      headers: { ...bearer(agent.token), 'idempotency-key': randomUUID() },
    })
  const alerts = async (): Promise<Shown[]> => {
    const { body } = await owner.read('/notifications')
    return (body.data['notifications'] as Shown[]).filter(({ kind }) => kind === 'limit.alert')
  }
  return { owner, agent, pay, alerts }
}

t.test('tells the owner once that a key has used so much of its daily limit', async t => {
  const { owner, agent, pay, alerts } = await opened({ dailySpendCapCents: 1000, alertAtPercent: 80 })
  t.match(await pay(799), { status: 200 })
  t.same(await alerts(), [])
  t.match(await pay(21), { status: 200 })
  const [alert, ...others] = await alerts()
  t.same(others, [])
  t.match(alert, {
    title: 'Limit nearly used',
    text: /^82 % of a limit of a key is used: 10\.00 USD a day \(8\.20 USD used\)\. It counts until 20\d\d-\d\d-\d\d 00:00 UTC\.$/,
    keyId: agent.keyId,
    subject: { kind: 'limit', id: /^alt_/ },
  })
  t.match(await pay(100), { status: 200 })
  t.match(await pay(100), { status: 403 })
  t.equal((await alerts()).length, 1)
  const caps = await send(`/user/v1/keys/${agent.keyId}/caps`, { headers: bearer(owner.token) })
  t.match(caps.body.data['caps'], [{ rule: 'dailySpendCapCents', alertAtPercent: 80, used: 920 }])
})

t.test('a payment that is rolled back gives no alert', async t => {
  const { pay, alerts } = await opened({ dailySpendCapCents: 1000, alertAtPercent: 80 }, 500)
  t.match(await pay(900), { status: 400 })
  t.same(await alerts(), [])
})

t.test('many payments at once record one event for each counter', async t => {
  const limit = (window: string) => ({
    operations: ['payments.*'],
    window,
    maxCents: 200,
    alertAtPercent: 50,
  })
  const { pay, alerts } = await opened({ limits: [limit('total'), limit('24h'), limit('month')] })
  const paid = await race(30, () => pay(10))
  t.equal(paid.filter(({ status }) => status === 200).length, 20)
  t.equal((await alerts()).length, 3)
})

t.test('a limit of calls that move no money gives its alert, too', async t => {
  const limit = { operations: ['balances.read'], window: 'day', maxCount: 3, alertAtPercent: 60 }
  const { agent, alerts } = await opened({ limits: [limit] })
  const read = () => send('/user/v1/balances', { headers: bearer(agent.token) })
  await read()
  t.same(await alerts(), [])
  for (let call = 0; call < 3; call++) await read()
  t.match(await alerts(), [
    { text: /^66 % of a limit of a key is used: balances\.read 3 a day \(2 used\)\./ },
  ])
})

t.test('the event of a webhook has the limit with its numbers', async t => {
  const alert = {
    policyId: 'pol_0123456789abcdef_00000000',
    keyId: '0123456789abcdef',
    rule: 'dailySpendCapCents',
    unit: 'cents',
    window: 'day',
    limit: 1000,
    used: 820,
    alertAtPercent: 80,
  }
  const event = {
    id: 'evt_1',
    position: 1,
    accountId: 'acc_1',
    subject: { kind: 'limit', id: 'alt_1' },
    number: 1,
    from: null,
    to: null,
    cause: 'alert',
    amountCents: 820,
    detail: JSON.stringify({ ...alert, resetsAt: Date.UTC(2026, 10, 30) }),
    at: 0,
    readAt: null,
  }
  t.match(eventBody(event, 'user-1'), {
    type: 'limit.alert',
    data: {
      object: 'limit',
      id: 'alt_1',
      status: null,
      amountCents: 820,
      alert: { ...alert, resetsAt: '2026-11-30T00:00:00.000Z' },
    },
  })
})
