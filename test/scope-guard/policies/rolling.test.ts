import type { Policy } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { bench, session } from '../issuer.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** A Sunday at midnight, where buckets of all lengths begin. */
const START = Date.UTC(2026, 2, 1)
const RULE = { operation: 'withdrawals.create', allOf: [], spends: 'withdrawal' } as const

/** The length of each window and of its buckets. */
const WINDOWS = [
  ['24h', DAY, HOUR],
  ['7d', 7 * DAY, 6 * HOUR],
  ['30d', 30 * DAY, DAY],
] as const

type Rolling = (typeof WINDOWS)[number][0]

const rolling = (window: Rolling, maxCents: number): Policy => ({
  limits: [{ operations: ['withdrawals.*'], maxCents, window }],
})

/** Spends under one policy; the clock can be set. */
async function wallet(policy: Policy) {
  const { guard, clock } = await bench({ policies: async () => [policy], spend: memorySpends() })
  clock.set(START)
  const holder = () => session(clock.now(), { policyIds: ['p'], expiresAt: Infinity })
  const reserve = async (amountCents: number) => {
    const access = await guard.authorize(holder(), { authorization: undefined }, RULE)
    if (!access.ok) throw new Error(access.code)
    return guard.reserve(access.value, { amountCents, currency: 'USD' })
  }
  const spend = async (amountCents: number): Promise<unknown> => {
    const hold = await reserve(amountCents)
    return hold.ok || hold.details
  }
  const simulate = async (amountCents: number) =>
    guard.simulate(holder(), { authorization: undefined }, RULE, { amountCents, currency: 'USD' })
  return { clock, guard, holder, reserve, spend, simulate }
}

for (const [window, length, bucket] of WINDOWS) {
  t.test(
    `${window} counts an amount until its whole bucket has left the window, to the millisecond`,
    async t => {
      for (const within of [0, 1, bucket - 1]) {
        const { clock, spend } = await wallet(rolling(window, 100))
        clock.set(START + within)
        t.equal(await spend(100), true)
        const leaves = START + bucket + length
        clock.set(leaves - 1)
        t.match(await spend(1), { window, remaining: 0, resetsAt: new Date(leaves).toISOString() })
        clock.set(leaves)
        t.equal(await spend(100), true)
      }
    },
  )

  t.test(`${window} holds up to its cap exactly, over the edge of a bucket`, async t => {
    const { clock, spend } = await wallet(rolling(window, 100))
    clock.set(START + bucket - 1)
    t.equal(await spend(60), true)
    clock.set(START + bucket)
    t.match(await spend(41), { rule: 'limits', unit: 'cents', requested: 41, limit: 100, remaining: 40 })
    t.equal(await spend(40), true)
  })
}

t.test('resets when the requested amount fits, and not before', async t => {
  const { clock, spend, simulate } = await wallet(rolling('24h', 100))
  t.equal(await spend(20), true)
  clock.set(START + 5 * HOUR)
  t.equal(await spend(50), true)
  clock.set(START + 6 * HOUR)
  t.equal(await spend(30), true)
  const at = (hours: number): string => new Date(START + hours * HOUR).toISOString()
  t.match(await spend(20), { resetsAt: at(25) })
  t.match(await spend(21), { resetsAt: at(30) })
  t.match(await spend(70), { resetsAt: at(30) })
  t.match(await spend(71), { resetsAt: at(31) })
  t.match(await spend(101), { resetsAt: at(25), remaining: 0, limit: 100 }, 'never fits')
  t.match(await simulate(21), { ok: false, details: { resetsAt: at(30), remaining: 0 } })
  clock.set(START + 30 * HOUR - 1)
  t.match(await simulate(70), { ok: false })
  clock.set(START + 30 * HOUR)
  t.match(await simulate(70), { ok: true })
})

t.test('gives a release and a lower settlement back to the hour of the reservation', async t => {
  const { clock, guard, reserve, spend } = await wallet(rolling('24h', 100))
  const first = await reserve(60)
  clock.set(START + 10 * HOUR)
  const second = await reserve(40)
  if (!first.ok || !second.ok) throw new Error('both must be reserved')
  clock.set(START + 12 * HOUR)
  t.equal(await guard.settle(first.value, 10), 'settled')
  t.match(await spend(51), { remaining: 50, resetsAt: new Date(START + 25 * HOUR).toISOString() })
  t.equal(await guard.release(second.value), true)
  t.match(await spend(91), { remaining: 90, resetsAt: new Date(START + 25 * HOUR).toISOString() })
})

t.test('an amount that was given back is no part that leaves the window first', async t => {
  const { clock, guard, reserve, spend } = await wallet(rolling('24h', 100))
  const first = await reserve(60)
  if (!first.ok) throw new Error('it must be reserved')
  clock.set(START + 5 * HOUR)
  t.equal(await spend(20), true)
  t.equal(await guard.release(first.value), true)
  t.match(await spend(101), { resetsAt: new Date(START + 30 * HOUR).toISOString() })
})

t.test(
  'caps, explain and the denial say what is used, what is left and when the first part is free',
  async t => {
    const { clock, guard, holder, spend } = await wallet(rolling('7d', 10_000))
    t.match(await guard.caps(holder()), [{ window: '7d', used: 0, remaining: 10_000, resetsAt: null }])
    t.equal(await spend(6000), true)
    clock.set(START + DAY)
    const resetsAt = START + 6 * HOUR + 7 * DAY
    t.match(await guard.caps(holder()), [{ window: '7d', used: 6000, held: 6000, remaining: 4000, resetsAt }])
    const words = async (amountCents: number) =>
      guard.explain(holder(), { authorization: undefined }, RULE, { amountCents, currency: 'USD' })
    const fits = await words(5000)
    t.match(fits.decision, {
      message:
        'Calls of withdrawals.* with this key are limited to 100.00 USD in 7 days: 40.00 USD left, 50.00 USD requested. This amount fits from 2026-03-08 06:00 UTC on.',
    })
    t.match(fits.rules, [{ binds: true, outcome: 'blocks', cap: { window: '7d', used: 6000, resetsAt } }])
    t.match(fits.lines.join(' ').replaceAll(/\s+/g, ' '), /first part free at 2026-03-08 06:00 UTC/)
    const never = await words(10_001)
    t.match(never.decision, { message: /The first part is free again at 2026-03-08 06:00 UTC\.$/ })
  },
)

t.test('an amount above the cap of an unused window is denied without a time', async t => {
  const { guard, holder, spend } = await wallet(rolling('30d', 100))
  t.match(await spend(101), { resetsAt: null, remaining: 100 })
  const spendOf = { amountCents: 101, currency: 'USD' }
  const { decision } = await guard.explain(holder(), { authorization: undefined }, RULE, spendOf)
  t.match(decision, { message: /Nothing is used, so a later call is denied too\.$/ })
})

t.test('counts calls in a rolling window', async t => {
  const limits = [{ operations: ['cards.*'], maxCount: 2, window: '24h' }] as const
  const { guard, clock } = await bench({ policies: async () => [{ limits }], spend: memorySpends() })
  clock.set(START)
  const call = async () => {
    const holder = session(clock.now(), { policyIds: ['p'], expiresAt: Infinity })
    return guard.authorize(holder, { authorization: undefined }, { operation: 'cards.create', allOf: [] })
  }
  t.equal((await call()).ok, true)
  clock.set(START + 2 * HOUR)
  t.equal((await call()).ok, true)
  t.match(await call(), {
    ok: false,
    message:
      'Calls of cards.* with this key are limited to 2 calls in 24 hours: 0 left. Another call fits from 2026-03-02 01:00 UTC on.',
  })
  clock.set(START + 25 * HOUR)
  t.equal((await call()).ok, true)
  t.equal((await call()).ok, false)
})

t.test('never lets more than the cap pass in any time as long as the window', async t => {
  const spends = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 * DAY }), fc.integer({ min: 1, max: 60 })), {
    minLength: 1,
    maxLength: 30,
  })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...WINDOWS),
      fc.nat(DAY),
      spends,
      async ([window, length, bucket], offset, steps) => {
        const { clock, spend } = await wallet(rolling(window, 100))
        const accepted: { at: number; amount: number }[] = []
        clock.set(START + offset)
        for (const [pause, amount] of steps) {
          clock.advance(window === '24h' ? pause % (8 * HOUR) : pause)
          const at = clock.now()
          const since = (from: number) =>
            accepted.filter(one => one.at > from).reduce((sum, one) => sum + one.amount, 0)
          const passes = (await spend(amount)) === true
          if (passes) accepted.push({ at, amount })
          t.ok(since(at - length) <= 100, 'within the window')
          // One bucket more than the window must deny it, or nothing may.
          if (!passes && since(at - length - bucket) + amount <= 100) throw new Error('denied without need')
        }
      },
    ),
    { numRuns: randomCases(200) },
  )
})

t.test('keeps at most one bucket more than the window has, and collects the others', async t => {
  const spends = memorySpends({ capacity: 40 })
  const { guard, clock } = await bench({ policies: async () => [rolling('30d', 10 ** 9)], spend: spends })
  for (let day = 0; day < 100; day++) {
    clock.set(START + day * DAY)
    const holder = session(clock.now(), { policyIds: ['p'], expiresAt: Infinity })
    const access = await guard.authorize(holder, { authorization: undefined }, RULE)
    if (!access.ok) throw new Error(access.code)
    const hold = await guard.reserve(access.value, { amountCents: 1, currency: 'USD', isSpent: true })
    t.equal(hold.ok, true)
    await spends.collect(1000, clock.now())
  }
  const holder = session(clock.now(), { policyIds: ['p'], expiresAt: Infinity })
  t.match(await guard.caps(holder), [{ used: 31 }])
})
