import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import type { HttpResponse } from '../../../harness/host.ts'
import { newMoneyUser, type MoneyUser } from '../../harness/money.ts'
import { startOpenHost } from '../../harness/open-host.ts'

const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const { host, db, wrongSums, close } = await startOpenHost(clock)
t.teardown(close)
const newUser = (extra?: Record<string, unknown>) => newMoneyUser(host.send, clock.now(), extra)
const contractOf = ({ body }: HttpResponse) => body.data['contract'] as { id: string; label: string | null }
const create = async (user: MoneyUser, label?: string): Promise<string> =>
  contractOf(await user.write('/contracts', label === undefined ? {} : { label })).id
const move = (
  user: MoneyUser,
  amountCents: number,
  [fromContractId, toContractId]: readonly [string | null, string | null],
  key?: string,
): Promise<HttpResponse> =>
  user.write('/deposits/transfer', { amountCents, fromContractId, toContractId }, key)
const stateOf = async (user: MoneyUser): Promise<unknown> => {
  const { body } = await user.read('/balances')
  const [{ availableCents, contractsCents }] = body.data['balances'] as [Record<string, number>]
  return [availableCents, contractsCents]
}

t.test('creates contracts from any object, and lists them with their balances', async t => {
  const user = await newUser()
  await user.fund(1000)
  const made = await user.write('/contracts', { label: 'Rent', color: 'blue', nested: { a: [1] } })
  t.match(contractOf(made), {
    id: /^ctr_/,
    label: 'Rent',
    balanceCents: 0,
    createdAt: new Date(clock.now()).toISOString(),
  })
  const plain = await create(user)
  t.match(await move(user, 250, [null, plain]), { status: 200 })
  t.match((await user.read('/contracts')).body.data, {
    contracts: [
      { id: plain, label: null, balanceCents: 250 },
      { id: contractOf(made).id, label: 'Rent', balanceCents: 0 },
    ],
    nextCursor: null,
  })
  for (const label of ['', 'a'.repeat(81), 5, 'a\u0000'])
    t.match(await user.write('/contracts', { label }), { status: 400, body: { field: 'label' } })
})

t.test('money moves between the balance and contracts, and only the balance has transactions', async t => {
  const user = await newUser()
  await user.fund(1000)
  const [one, two] = [await create(user), await create(user)]
  const put = await move(user, 600, [null, one])
  const { transfer } = put.body.data as { transfer: { id: string } }
  t.match(transfer, {
    id: /^move_/,
    fromContractId: null,
    toContractId: one,
    amountCents: 600,
    createdAt: new Date(clock.now()).toISOString(),
  })
  t.match(await move(user, 200, [one, two]), { status: 200 })
  t.same(await stateOf(user), [400, 600])
  t.match(await move(user, 100, [two, null]), { status: 200 })
  t.same(await stateOf(user), [500, 500])
  t.match((await user.read('/transactions')).body.data['transactions'], [
    { type: 'collateral', direction: 'credit', amountCents: 100, description: 'Taken back' },
    {
      type: 'collateral',
      direction: 'debit',
      amountCents: 600,
      description: 'Set aside',
      source: { kind: 'move', id: transfer.id },
    },
    { type: 'collateral', direction: 'credit', amountCents: 1000 },
  ])
  t.same(await wrongSums(), [])
})

t.test('denies more than there is, the same place twice, and contracts of others', async t => {
  const [ann, bob] = [await newUser(), await newUser()]
  await ann.fund(100)
  await bob.fund(100)
  const [own, other] = [await create(ann), await create(bob)]
  await move(bob, 50, [null, other])
  const key = randomUUID()
  t.match(await move(ann, 101, [null, own], key), {
    status: 400,
    body: { field: 'amountCents', error: 'insufficient_balance', availableCents: 100 },
  })
  await ann.fund(1)
  t.match(await move(ann, 101, [null, own], key), { status: 200 }, 'the same key works after funding')
  t.match(await move(ann, 102, [own, null]), { status: 400, body: { availableCents: 101 } })
  for (const place of [null, own])
    t.match(await move(ann, 1, [place, place]), { status: 400, body: { field: 'toContractId' } })
  for (const id of [other, 'ctr_never']) {
    t.match(await move(ann, 1, [id, null]), { status: 404, body: { field: 'fromContractId' } })
    t.match(await move(ann, 1, [own, id]), { status: 404, body: { field: 'toContractId' } })
  }
  for (const body of [{ amountCents: 1, toContractId: own }, { amountCents: 0, fromContractId: null }, {}])
    t.match(await ann.write('/deposits/transfer', body), { status: 400 })
  t.same(
    [await stateOf(ann), await stateOf(bob)],
    [
      [0, 101],
      [50, 50],
    ],
  )
})

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

t.test('a repeat makes one contract and moves once, also after the record has ended', async t => {
  const user = await newUser()
  await user.fund(1000)
  const key = randomUUID()
  const first = await user.write('/contracts', { label: 'Rent' }, key)
  const { id } = contractOf(first)
  const moved = await move(user, 300, [null, id], key)
  clock.advance(1000)
  for (const ended of [false, true]) {
    if (ended) await db.query('delete from gw_idempotency', [])
    t.equal(contractOf(await user.write('/contracts', { label: 'Rent' }, key)).id, id)
    t.same((await move(user, 300, [null, id], key)).body.data, moved.body.data)
  }
  t.same(await stateOf(user), [700, 300])
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
