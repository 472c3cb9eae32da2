import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import type { HttpResponse } from '../../../harness/host.ts'
import { newMoneyUser, type MoneyUser } from '../../harness/money.ts'
import { startOpenHost } from '../../harness/open-host.ts'

const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const { host, wrongSums, close } = await startOpenHost(clock)
t.teardown(close)
const newUser = (extra?: Record<string, unknown>) => newMoneyUser(host.send, clock.now(), extra)
const create = async (user: MoneyUser): Promise<string> =>
  ((await user.write('/contracts', {})).body.data['contract'] as { id: string }).id
const move = (
  user: MoneyUser,
  amountCents: number,
  [fromContractId, toContractId]: readonly [string | null, string | null],
): Promise<HttpResponse> => user.write('/deposits/transfer', { amountCents, fromContractId, toContractId })

t.test('own money counts under no cap, and what is put aside cannot be spent', async t => {
  const user = await newUser({ policy: { maxAuthAmountCents: 0, dailySpendCapCents: 0 } })
  await user.fund(500)
  const contract = await create(user)
  t.match(await move(user, 500, [null, contract]), { status: 200 })
  const free = await newUser()
  await free.fund(500)
  await move(free, 500, [null, await create(free)])
  const payment = { to: { walletAddress: user.address }, amountCents: 1 }
  t.match(await free.write('/payments', payment), { status: 400, body: { availableCents: 0 } })
})

t.test('of simultaneous moves out of one contract, as many succeed as it covers', async t => {
  const user = await newUser()
  await user.fund(1000)
  const [one, two] = [await create(user), await create(user)]
  await move(user, 500, [null, one])
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => move(user, 50, [one, n % 2 ? two : null])),
  )
  t.equal(responses.filter(({ status }) => status === 200).length, 10)
  t.equal(responses.filter(({ status }) => status === 400).length, 10)
  const there = await Promise.all(
    Array.from({ length: 20 }, (_, n) => move(user, 1, n % 2 ? [two, null] : [null, two])),
  )
  t.same([...new Set(there.map(({ status }) => status))], [200], 'both ways at once')
  t.same(await wrongSums(), [])
  t.same(host.failures, [])
})
