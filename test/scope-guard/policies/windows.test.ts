import type { Policy } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench, session } from '../issuer.ts'

/** Spends under one policy; the clock can be set. */
async function wallet(policy: Policy) {
  const { guard, clock } = await bench({ policies: async () => [policy], spend: memorySpends() })
  const spend = async (amountCents: number): Promise<unknown> => {
    const holder = session(clock.now(), { policyIds: ['p'] })
    const access = await guard.authorize(
      holder,
      { authorization: undefined },
      {
        operation: 'withdrawals.create',
        allOf: [],
        spends: 'withdrawal',
      },
    )
    if (!access.ok) return access.details
    const hold = await guard.reserve(access.value, { amountCents, currency: 'USD' })
    return hold.ok || hold.details
  }
  return { clock, spend }
}

t.test('a UTC day ends exactly at midnight, also on a leap day', async t => {
  const { clock, spend } = await wallet({ dailySpendCapCents: 100 })
  clock.set(Date.UTC(2028, 1, 29, 23, 59, 59, 999))
  t.equal(await spend(100), true)
  t.same(await spend(1), {
    rule: 'dailySpendCapCents',
    policyId: 'p',
    window: 'day',
    unit: 'cents',
    remaining: 0,
    resetsAt: '2028-03-01T00:00:00.000Z',
    requested: 1,
    limit: 100,
  })
  clock.set(Date.UTC(2028, 2, 1))
  t.equal(await spend(100), true)
})

t.test('a UTC month ends at the first instant of the next month, also in December', async t => {
  const limits = [{ operations: ['withdrawals.*'], maxCents: 100, window: 'month' }] as const
  const { clock, spend } = await wallet({ limits })
  clock.set(Date.UTC(2026, 11, 1))
  t.equal(await spend(60), true)
  clock.set(Date.UTC(2027, 0, 1) - 1)
  t.match(await spend(41), { rule: 'limits', remaining: 40, resetsAt: '2027-01-01T00:00:00.000Z' })
  clock.set(Date.UTC(2027, 0, 1))
  t.equal(await spend(100), true)
})

t.test('never resets a total', async t => {
  const limits = [{ operations: ['withdrawals.*'], maxCount: 1, window: 'total' }] as const
  const { clock, spend } = await wallet({ limits })
  t.equal(await spend(1), true)
  clock.set(Date.UTC(2099, 0, 1))
  t.match(await spend(1), { rule: 'limits', unit: 'count', remaining: 0, resetsAt: null })
})

t.test('counts a withdrawal as a spend, and a spend not as a withdrawal', async t => {
  const { spend } = await wallet({ dailySpendCapCents: 100, dailyWithdrawalCapCents: 500 })
  t.equal(await spend(100), true)
  t.match(await spend(1), { rule: 'dailySpendCapCents' })
})
