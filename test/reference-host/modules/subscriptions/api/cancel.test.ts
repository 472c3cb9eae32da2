import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, type HttpResponse } from '../../../../harness/host.ts'
import { newMoneyUser, payinOf, type MoneyUser } from '../../../harness/money.ts'
import { startOpenHost } from '../../../harness/open-host.ts'

const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const { host, db, close } = await startOpenHost(clock)
t.teardown(close)
const PAY = '/subscriptions/payin/confirm-balance'

async function subscribed() {
  const user = await newMoneyUser(host.send, clock.now())
  await user.fund(5000)
  const payin = payinOf(await user.write('/subscriptions/checkout', { plan: 'basic' }))
  await user.write(PAY, { payinId: payin.id })
  const id = payin.subscriptionId as string
  const headers = bearer(user.token)
  const cancel = (key?: string): Promise<HttpResponse> =>
    host.send(`/user/v1/subscriptions/${id}/cancel`, {
      method: 'POST',
      body: {},
      headers: { ...headers, ...(key ? { 'idempotency-key': key } : {}) },
    })
  return { user, id, cancel }
}
const renew = (user: MoneyUser, subscriptionId: string, key?: string): Promise<HttpResponse> =>
  user.write('/subscriptions/payin', { subscriptionId, method: 'balance' }, key)
const subscriptionOf = ({ body }: HttpResponse) => body.data['subscription']

t.test('a canceled subscription keeps its paid time, and twice is the same', async t => {
  const { user, id, cancel } = await subscribed()
  const balance = await user.balance()
  const listed = async () => ((await user.read('/subscriptions')).body.data['subscriptions'] as object[])[0]
  t.match(await listed(), { id, canceledAt: null })
  const canceledAt = new Date(clock.now()).toISOString()
  const first = await cancel()
  t.match(subscriptionOf(first), { id, status: 'active', paidThrough: /^2026-02-28/, canceledAt })
  clock.advance(60_000)
  for (const key of [undefined, randomUUID()]) {
    const again = await cancel(key)
    t.same([again.status, subscriptionOf(again)], [200, subscriptionOf(first)])
  }
  t.same(await listed(), subscriptionOf(first))
  t.equal(await user.balance(), balance, 'nothing is paid back')
  const { body } = await user.read('/notifications')
  t.match(body.data['notifications'], [{ kind: 'subscription.canceled', subject: { id } }, {}])
  t.equal((body.data['notifications'] as []).length, 2, 'one notification')
})

t.test(
  'a canceled subscription gets no new pay-in, and an open one is not paid from the balance',
  async t => {
    const { user, id, cancel } = await subscribed()
    const key = randomUUID()
    const open = payinOf(await renew(user, id, key))
    await cancel()
    const denied = { status: 400, body: { error: 'invalid_request' } }
    t.match(await renew(user, id), { ...denied, body: { field: 'subscriptionId', message: /canceled/ } })
    t.match(await user.write(PAY, { payinId: open.id }), { ...denied, body: { field: 'payinId' } })
    t.equal(await user.balance(), 4500)
    await db.query('delete from gw_idempotency', [])
    t.equal(payinOf(await renew(user, id, key)).id, open.id, 'a repeat gets the pay-in of before')
  },
)

t.test(
  'pay-ins, payments and cancelations at the same time do not wait for each other in a circle',
  async t => {
    const { user, id, cancel } = await subscribed()
    const open = await Promise.all(Array.from({ length: 4 }, () => renew(user, id)))
    const responses = await Promise.all([
      ...open.map(response => user.write(PAY, { payinId: payinOf(response).id })),
      ...Array.from({ length: 6 }, () => renew(user, id)),
      ...Array.from({ length: 3 }, () => cancel()),
    ])
    t.same(
      responses.filter(({ status }) => status >= 500),
      [],
    )
    t.same(host.failures, [])
    t.match(await renew(user, id), { status: 400 })
  },
)
