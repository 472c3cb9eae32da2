import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openTestHost, sessionOf } from '../../../../harness/host.ts'
import { moneyUser, newMoneyUser, payinOf, type MoneyUser } from '../../../harness/money.ts'
import { ask, confirm, startPaidHost, unitsOf } from '../../../harness/paid-host.ts'

const DAY_MS = 86_400_000
const settle = (user: MoneyUser, id: string, key?: string) =>
  user.write(`/sandbox/payins/${id}/settle`, {}, key)

t.test('a sandbox without a chain settles a pay-in once, with play money', async t => {
  const host = await openTestHost(t, {})
  const user = await newMoneyUser(host.send)
  const { id } = await ask(user, { amountCents: 500 })
  t.match(payinOf(await settle(user, id, 'settle-0001')), {
    id,
    status: 'settled',
    method: 'onchain',
    txHash: null,
  })
  t.equal(await user.balance(), 500)
  t.equal((await settle(user, id, 'settle-0001')).headers.get('idempotency-replayed'), 'true')
  t.match(payinOf(await settle(user, id)), { status: 'settled' }, 'another key finds it settled')
  t.equal(await user.balance(), 500, 'and moves nothing')
  t.match((await user.payin(id)).history, [
    { to: 'awaiting_payment', cause: 'created' },
    { from: 'awaiting_payment', to: 'settled', cause: 'simulated', detail: null },
  ])
  t.match((await user.read('/notifications')).body.data['notifications'], [{ kind: 'payin.settled' }])

  const bought = payinOf(await user.write('/subscriptions/checkout', { plan: 'basic' }))
  await settle(user, bought.id)
  t.match((await user.read('/subscriptions')).body.data['subscriptions'], [{ status: 'active' }])
  t.equal(await user.balance(), 500, 'a plan is paid from outside')

  const other = await newMoneyUser(host.send)
  const open = await ask(user, { amountCents: 500 })
  t.match(await settle(other, open.id), { status: 404 }, 'of another account')
  t.match(await settle(user, 'payin_none'), { status: 404 })
})

t.test('a pay-in is settled up to its deadline, and not from then on', async t => {
  const clock = manualClock(Date.UTC(2026, 0, 31, 12))
  const host = await openTestHost(t, {}, clock)
  const user = await newMoneyUser(host.send, clock.now())
  const [first, second] = [await ask(user, { amountCents: 1 }), await ask(user, { amountCents: 2 })]
  clock.advance(DAY_MS - 1)
  // The first session ends with the day.
  const again = moneyUser(host.send, { token: await sessionOf(host.send, user.key) })
  t.match(payinOf(await settle(again, first.id)), { status: 'settled' })
  clock.advance(1)
  t.match(await settle(again, second.id), {
    status: 400,
    body: { error: 'invalid_request', field: 'payinId', message: /has expired/ },
  })
})

t.test('a transfer that is confirming on a chain is not paid a second time by play money', async t => {
  const paid = await startPaidHost()
  t.teardown(() => paid.close())
  const { receiver, pay, newUser } = paid
  const user = await newUser()
  const payin = await ask(user, { amountCents: 11 })
  const txHash = await pay(user.account, receiver, unitsOf(payin))
  t.match(await confirm(user, payin.id, txHash), { status: 'confirming' })
  t.match(await settle(user, payin.id), {
    status: 400,
    body: { field: 'payinId', message: /a transfer that is confirming/ },
  })
  const named = await ask(user, { amountCents: 12 })
  await confirm(user, named.id, `0x${'ab'.repeat(32)}`)
  t.match(payinOf(await settle(user, named.id)), { status: 'settled' }, 'one that was only named is')
})
