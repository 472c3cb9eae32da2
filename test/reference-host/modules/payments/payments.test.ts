import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { getAddress } from 'viem'
import type { HttpResponse } from '../../../harness/host.ts'
import { newMoneyUser, type MoneyUser } from '../../harness/money.ts'
import { startOpenHost } from '../../harness/open-host.ts'

const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const { host, wrongSums, close } = await startOpenHost(clock)
t.teardown(close)
const newUser = (extra?: Record<string, unknown>) => newMoneyUser(host.send, clock.now(), extra)
const pay = (
  from: MoneyUser,
  walletAddress: string,
  amountCents: number,
  { key, memo }: { key?: string; memo?: string } = {},
): Promise<HttpResponse> =>
  from.write('/payments', { to: { walletAddress }, amountCents, ...(memo ? { memo } : {}) }, key)
const listOf = async (user: MoneyUser, path: string): Promise<unknown> =>
  (await user.read(`/${path}`)).body.data[path]

t.test(
  'a payment moves money to another wallet user at once, and both sides see it under one id',
  async t => {
    const [ann, bob] = [await newUser(), await newUser()]
    await ann.fund(1000)
    const paid = await pay(ann, getAddress(bob.address), 400, { memo: 'Lunch' })
    t.match(paid, { status: 200 })
    const { payment } = paid.body.data as { payment: { id: string } }
    t.match(payment, {
      id: /^pay_/,
      direction: 'debit',
      counterparty: { walletAddress: bob.address },

      amountCents: 400,
      memo: 'Lunch',
      status: 'completed',
      createdAt: new Date(clock.now()).toISOString(),
    })
    t.same([await ann.balance(), await bob.balance()], [600, 400])
    t.same(await listOf(ann, 'payments'), [payment])
    const received = { ...payment, direction: 'credit', counterparty: { walletAddress: ann.address } }
    t.same(await listOf(bob, 'payments'), [received])
    const source = { kind: 'payment', id: payment.id }
    t.match(await listOf(ann, 'transactions'), [
      { type: 'payment', direction: 'debit', description: 'Payment sent', amountCents: 400, source },
      { type: 'collateral', direction: 'credit' },
    ])
    t.match(await listOf(bob, 'transactions'), [
      {
        type: 'payment',
        direction: 'credit',
        description: 'Payment received',
        displayAmount: '$4.00',
        source,
      },
    ])
    t.match(await listOf(bob, 'notifications'), [
      { kind: 'payment.completed', title: 'Payment received', text: /4\.00 USD/, subject: source },
    ])
    t.same(await listOf(ann, 'notifications'), [], 'the sender knows')
  },
)

t.test('too little money is denied with what there is, and the same key pays once it is funded', async t => {
  const [ann, bob] = [await newUser(), await newUser()]
  await ann.fund(399)
  const key = randomUUID()
  t.match(await pay(ann, bob.address, 400, { key }), {
    status: 400,
    body: {
      field: 'amountCents',
      error: 'insufficient_balance',
      availableCents: 399,
      requestedCents: 400,
      message: 'The balance is 3.99 USD: 4.00 USD requested.',
    },
  })
  await ann.fund(1)
  t.match(await pay(ann, bob.address, 400, { key }), { status: 200 })
  t.same([await ann.balance(), await bob.balance()], [0, 400])
})

t.test('of 30 simultaneous payments, as many succeed as the daily cap and the balance allow', async t => {
  const bob = await newUser()
  for (const [extra, funded] of [
    [{ policy: { dailySpendCapCents: 1000 } }, 3000],
    [{}, 1000],
  ] as const) {
    const ann = await newUser(extra)
    await ann.fund(funded)
    const responses = await Promise.all(Array.from({ length: 30 }, () => pay(ann, bob.address, 100)))
    t.equal(responses.filter(({ status }) => status === 200).length, 10)
    t.equal(responses.filter(({ status }) => status === (extra.policy ? 403 : 400)).length, 20)
    t.equal(await ann.balance(), funded - 1000)
  }
})

t.test('two accounts that pay each other at the same time wait for each other in no order', async t => {
  const [ann, bob] = [await newUser(), await newUser()]
  await Promise.all([ann.fund(10_000), bob.fund(10_000)])
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      n % 2 === 0 ? pay(ann, bob.address, 100) : pay(bob, ann.address, 100),
    ),
  )
  t.same([...new Set(responses.map(({ status }) => status))], [200])
  t.same([await ann.balance(), await bob.balance()], [10_000, 10_000])
  // Their ledger accounts do not exist yet: each payment would create both.
  for (let pair = 0; pair < 5; pair += 1) {
    const [one, other] = [await newUser(), await newUser()]
    const tries = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        n % 2 === 0 ? pay(one, other.address, 1) : pay(other, one.address, 1),
      ),
    )
    t.same([...new Set(tries.map(({ status }) => status))], [400])
  }
  t.same(host.failures, [])
  t.same(await wrongSums(), [])
})
