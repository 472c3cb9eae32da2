import { memorySpends } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import t from 'tap'
import { spender } from './spender.ts'

const CAP = 1_000_000_000

t.test('keeps the smallest number of cents that is not less than the spent proportion of a hold', async t => {
  let rate = 1
  const { guard, access, hold } = await spender(
    { dailySpendCapCents: CAP },
    { spend: memorySpends(), rates: () => rate },
  )
  const usedCents = async () => (await guard.caps(access.session))[0]?.used as number
  const amounts = fc
    .integer({ min: 1, max: 500 })
    .chain(requested => fc.tuple(fc.constant(requested), fc.integer({ min: 0, max: requested })))
  await fc.assert(
    fc.asyncProperty(amounts, fc.integer({ min: 1, max: 300 }), async ([requested, actual], percent) => {
      rate = percent / 100
      const before = await usedCents()
      const held = await hold(requested, 'EUR')
      t.equal(await guard.settle(held, actual), 'settled')
      const kept = (await usedCents()) - before
      const exact = BigInt(held.amountCents) * BigInt(actual)
      return BigInt(kept) * BigInt(requested) >= exact && BigInt(kept - 1) * BigInt(requested) < exact
    }),
  )
})

t.test('settles all of a hold by default, and a hold of nothing', async t => {
  for (const amount of [0, 1, 2]) {
    const { guard, access, hold } = await spender({ dailySpendCapCents: 2 }, { spend: memorySpends() })
    t.equal(await guard.settle(await hold(amount)), 'settled')
    t.match(await guard.caps(access.session), [{ used: amount, held: 0, remaining: 2 - amount }])
  }
})

t.test('settles at 0 and at the requested amount, and refuses one cent more', async t => {
  const { guard, access, hold } = await spender({ dailySpendCapCents: 20 }, { spend: memorySpends() })
  const first = await hold(10)
  t.equal(await guard.settle(first, 11), 'exceeds')
  t.equal(await guard.settle(first, 10), 'settled')
  t.equal(await guard.settle(await hold(10), 0), 'settled')
  t.match(await guard.caps(access.session), [{ used: 10, held: 0 }])
})

t.test(
  'throws for an actual amount that is not a safe integer of at least 0, and keeps the hold',
  async t => {
    const { guard, access, hold } = await spender({ dailySpendCapCents: 10 }, { spend: memorySpends() })
    const held = await hold(10)
    for (const actual of [-1, 0.5, NaN, -Infinity, 2 ** 53, '1' as unknown as number])
      await t.rejects(guard.settle(held, actual), {
        name: 'TypeError',
        message: /safe integer of at least 0/,
      })
    t.match(await guard.caps(access.session), [{ used: 10, held: 10 }])
  },
)

t.test('ends a hold under no cap without a store, as often as it is asked to', async t => {
  const { guard, hold } = await spender({})
  const held = await hold(10)
  for (let times = 0; times < 2; times++) {
    t.equal(await guard.settle(held), 'settled')
    t.equal(await guard.release(held), true)
  }
})

t.test('throws for a hold of a store when no store is given', async t => {
  const { hold } = await spender({ dailySpendCapCents: 10 }, { spend: memorySpends() })
  const held = await hold(10)
  const { guard } = await spender({})
  const missing = { name: 'TypeError', message: /set the option spend/ }
  await t.rejects(guard.settle(held), missing)
  await t.rejects(guard.release(held), missing)
})
