// Random moves, payments and bills between accounts: every sum stays right, one after the other and at the same time.
import assert from 'node:assert/strict'
import { manualClock } from '@gatewright/kernel/testing'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../../harness/holds.ts'
import type { HttpResponse } from '../../harness/host.ts'
import { newMoneyUser, type MoneyUser } from '../harness/money.ts'
import { startOpenHost } from '../harness/open-host.ts'
import { randomCases } from '../../harness/random-cases.ts'

const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const { host, wrongSums, close } = await startOpenHost(clock)
t.teardown(close)

const WHO = 3
/** The places of one account's money: its balance and two contracts. */
const PLACES = 3
const who = fc.nat(WHO - 1)
const cents = fc.integer({ min: 1, max: 300 })
const place = fc.nat(PLACES - 1)
const step = fc.oneof(
  fc.record({ kind: fc.constant('fund' as const), who, cents }),
  fc.record({ kind: fc.constant('move' as const), who, cents, from: place, to: place }),
  fc.record({ kind: fc.constant('pay' as const), who, cents, to: who }),
  fc.record({ kind: fc.constant('bill' as const), who, cents }),
  fc.record({ kind: fc.constant('fold' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Owner extends MoneyUser {
  readonly address: string
  readonly contracts: readonly (string | null)[]
}

async function newOwner(): Promise<Owner> {
  const user = await newMoneyUser(host.send, clock.now())
  const make = async (): Promise<string> =>
    ((await user.write('/contracts', {})).body.data['contract'] as { id: string }).id
  return { ...user, contracts: [null, await make(), await make()] }
}
const newOwners = (): Promise<Owner[]> => Promise.all(Array.from({ length: WHO }, newOwner))

/** Does a step; for a bill, its payment gets a response. */
async function act(owners: readonly Owner[], step: Step): Promise<HttpResponse | undefined> {
  if (step.kind === 'fold') {
    await host.chore('fold balances')
    return undefined
  }
  const { contracts, fund, write } = owners[step.who] as Owner
  const amountCents = step.cents
  if (step.kind === 'fund') return fund(amountCents)
  if (step.kind === 'move') {
    const [fromContractId, toContractId] = [contracts[step.from], contracts[step.to]]
    return write('/deposits/transfer', { amountCents, fromContractId, toContractId })
  }
  if (step.kind === 'pay')
    return write('/payments', { to: { walletAddress: owners[step.to]?.address }, amountCents })
  const noted = await write('/bills', { payee: 'a', amountCents, dueAt: '2026-02-01' })
  return write(`/bills/${(noted.body.data['bill'] as { id: string }).id}/pay`, {})
}

/** What each owner has in each place. */
async function stateOf(owners: readonly Owner[]): Promise<number[][]> {
  return Promise.all(
    owners.map(async ({ balance, read, contracts }) => {
      const { body } = await read('/contracts')
      const listed = body.data['contracts'] as { id: string; balanceCents: number }[]
      const inContracts = contracts.slice(1).map(id => listed.find(each => each.id === id)?.balanceCents)
      return [await balance(), ...(inContracts as number[])]
    }),
  )
}

/** What a step takes from and gives to the places; undefined if it must be denied. */
function applied(model: readonly number[][], step: Step): number[][] | undefined {
  const next = model.map(places => [...places])
  const add = (owner: number, at: number, amount: number): void => {
    const places = next[owner] as number[]
    places[at] = (places[at] as number) + amount
  }
  if (step.kind === 'fold') return next
  if (step.kind === 'fund') add(step.who, 0, step.cents)
  else if (step.kind === 'bill') add(step.who, 0, -step.cents)
  else if (step.kind === 'pay') {
    if (step.who === step.to) return undefined
    add(step.who, 0, -step.cents)
    add(step.to, 0, step.cents)
  } else {
    if (step.from === step.to) return undefined
    add(step.who, step.from, -step.cents)
    add(step.who, step.to, step.cents)
  }
  return next.flat().some(amount => amount < 0) ? undefined : next
}

t.test('any moves, payments and bills one after the other do what a plain model does', async t => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async steps => {
    const owners = await newOwners()
    let model = owners.map(() => Array.from({ length: PLACES }, () => 0))
    for (const each of steps) {
      const expected = applied(model, each)
      const response = await act(owners, each)
      if (response) assert.equal(response.status, expected ? 200 : 400, JSON.stringify([each, response.body]))
      model = expected ?? model
    }
    assert.deepEqual(await stateOf(owners), model)
    assert.deepEqual(await wrongSums(), [])
  })
  await holds(t, property, { numRuns: randomCases(16) })
})

t.test('any moves, payments and bills at the same time keep every sum', async t => {
  const funded = 500
  const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async steps => {
    const owners = await newOwners()
    await Promise.all(owners.map(({ fund }) => fund(funded)))
    const responses = await Promise.all(steps.map(each => act(owners, each)))
    const wrong = responses.filter(response => response && ![200, 400].includes(response.status))
    assert.deepEqual(wrong, [])
    const done = steps.filter((_, n) => responses[n]?.status === 200)
    const sum = (kind: Step['kind']): number =>
      done.reduce((total, each) => total + (each.kind === kind && 'cents' in each ? each.cents : 0), 0)
    const state = (await stateOf(owners)).flat()
    assert.ok(state.every(amount => amount >= 0))
    const total = state.reduce((all, amount) => all + amount, 0)
    assert.equal(total, WHO * funded + sum('fund') - sum('bill'))
    assert.deepEqual(await wrongSums(), [])
  })
  await holds(t, property, { numRuns: randomCases(12) })
  t.same(host.failures, [])
})
