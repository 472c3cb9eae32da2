import type { Rule } from '@gatewright/kernel'
import type { Spend } from '@gatewright/scope-guard/internal'
import type { GuardOptions } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench, session } from '../issuer.ts'
import { spender, WITHDRAWAL } from './spender.ts'

const LIST = { operation: 'cards.list', allOf: [] } as const satisfies Rule

/** Simulates operations of a session under one policy. */
async function simulator(policy: unknown, options: Partial<GuardOptions> = {}) {
  const { guard, clock } = await bench({ policies: async () => [policy], ...options })
  const holder = session(clock.now(), { policyIds: ['p'] })
  const simulate = (rule: Rule, spend?: Spend) =>
    guard.simulate(holder, { authorization: undefined }, rule, spend)
  return {
    guard,
    clock,
    simulate,
    authorize: () => guard.authorize(holder, { authorization: undefined }, LIST),
  }
}

t.test(
  'allows an amount up to what remains under each cap, and names the first cap that is exceeded',
  async t => {
    const total = { operations: ['withdrawals.*'], maxCents: 150, window: 'total' }
    const { guard, access, reserve } = await spender(
      { dailySpendCapCents: 100, limits: [total] },
      { spend: memorySpends() },
    )
    const simulate = (amountCents: number) =>
      guard.simulate(access.session, { authorization: undefined }, WITHDRAWAL, {
        amountCents,
        currency: 'USD',
      })
    const day = { rule: 'dailySpendCapCents', policyId: 'p', window: 'day', unit: 'cents' }
    t.match(await simulate(100), { ok: true })
    t.match(await simulate(101), { code: 'policy_blocked', status: 403, details: { ...day, remaining: 100 } })
    t.match(await reserve(60), { ok: true })
    t.match(await simulate(40), { ok: true })
    t.match(await simulate(41), { details: { ...day, remaining: 40 } })
    t.match(await simulate(40), { ok: true }, 'a simulation holds nothing')
  },
)

t.test('names the second of two caps when only that is exceeded, with no reset of a total', async t => {
  const total = { operations: ['withdrawals.*'], maxCents: 50, window: 'total' }
  for (const dailySpendCapCents of [100, 50]) {
    const { guard, access, reserve } = await spender(
      { dailySpendCapCents, limits: [total] },
      { spend: memorySpends() },
    )
    const spend = { amountCents: 60, currency: 'USD' }
    const simulated = await guard.simulate(access.session, { authorization: undefined }, WITHDRAWAL, spend)
    const reserved = await reserve(60)
    const expected =
      dailySpendCapCents === 100
        ? { rule: 'limits', window: 'total', remaining: 50, resetsAt: null }
        : { rule: 'dailySpendCapCents', window: 'day', remaining: 50, resetsAt: '2026-01-02T00:00:00.000Z' }
    t.match(simulated, { ok: false, details: expected })
    t.match(reserved, { ok: false, details: expected })
  }
})

t.test('decides about a call that moves no money by the calls that are counted', async t => {
  const limits = [{ operations: ['cards.*'], maxCount: 1, window: 'day' }]
  const { simulate, authorize } = await simulator({ limits }, { spend: memorySpends() })
  t.match(await simulate(LIST), { ok: true })
  t.match(await simulate(LIST), { ok: true }, 'a simulation counts nothing')
  t.match(await authorize(), { ok: true })
  t.match(await simulate(LIST), {
    code: 'policy_blocked',
    details: { rule: 'limits', unit: 'count', remaining: 0 },
  })
  t.match(await simulate({ ...LIST, operation: 'balances.list' }), { ok: true })
})

t.test('blocks what needs a counter when the host has no store', async t => {
  const limits = [{ operations: ['cards.*'], maxCount: 1, window: 'day' }]
  const { simulate } = await simulator({ dailySpendCapCents: 1, limits })
  t.match(await simulate(LIST), { code: 'policy_blocked', details: { rule: 'limits', policyId: 'p' } })
  t.match(await simulate(WITHDRAWAL, { amountCents: 1, currency: 'USD' }), {
    code: 'policy_blocked',
    details: { rule: 'dailySpendCapCents' },
  })
  t.match(await simulate(WITHDRAWAL), { ok: true }, 'without an amount only the operation is decided')
})

t.test('reads no store when no counter applies', async t => {
  const usage = async (): Promise<never> => {
    throw new Error('the store was read')
  }
  const { simulate } = await simulator({ maxAuthAmountCents: 5 }, { spend: { ...memorySpends(), usage } })
  t.match(await simulate(LIST), { ok: true })
  t.match(await simulate(WITHDRAWAL, { amountCents: 5, currency: 'USD' }), { ok: true })
  t.match(await simulate(WITHDRAWAL, { amountCents: 6, currency: 'USD' }), {
    details: { rule: 'maxAuthAmountCents', remaining: 5 },
  })
})

t.test('says in words what was requested, what is left, and when it resets', async t => {
  const money = async (policy: unknown, amountCents: number) =>
    (await simulator(policy, { spend: memorySpends() })).simulate(WITHDRAWAL, {
      amountCents,
      currency: 'USD',
    })
  const message = async (policy: unknown, amountCents = 45_000) => {
    const denied = await money(policy, amountCents)
    return denied.ok ? '' : denied.message
  }
  t.equal(
    await message({ dailyWithdrawalCapCents: 16_500 }),
    'Withdrawals with this key are limited to 165.00 USD a day: 165.00 USD left, 450.00 USD requested. It resets at 00:00 UTC.',
  )
  t.match(
    await message({ dailySpendCapCents: 40_000, dailyWithdrawalCapCents: 40_000 }),
    /^Spending with this key is limited to 400\.00 USD a day \(withdrawals too\): 400\.00 USD left/,
  )
  t.notMatch(await message({ dailySpendCapCents: 40_000, dailyWithdrawalCapCents: 50_000 }), / too\)/)
  t.match(await message({ dailySpendCapCents: 100 }), /^Spending with this key is limited to 1.00 USD a day/)
  t.equal(
    await message({ maxAuthAmountCents: 100_000 }, 123_456),
    'One payment with this key is limited to 1,000.00 USD: 1,234.56 USD requested.',
  )
  const operations = ['withdrawals.*', 'a.b', 'c.d', 'e.f']
  t.equal(
    await message({ limits: [{ operations, maxCents: 5, window: 'month' }] }, 6),
    'Calls of a.b, c.d, e.f and 1 more with this key are limited to 0.05 USD a month: 0.05 USD left, 0.06 USD requested. It resets on 2026-02-01 at 00:00 UTC.',
  )
  t.match(
    await message({ limits: [{ operations, maxCount: 0, window: 'total' }] }),
    /limited to 0 calls in total: 0 left\. It/,
  )
  for (const [policy, words] of [
    [{ denyOperations: ['withdrawals.*'] }, /denies this operation/],
    [{ allowOperations: [] }, /do not allow this operation/],
    [{ notAfter: '2020-01-01T00:00:00Z' }, /nothing from 2020-01-01T00:00:00Z on/],
    [{ notBefore: '2090-01-01T00:00:00Z' }, /nothing before 2090/],
    [{ allowedIps: ['192.0.2.1'] }, /from this address/],
  ] as const)
    t.match(await message(policy), words)
  const id = 'pol_0123456789abcdef_01234567'
  const denied = await (await simulator({ denyOperations: ['cards.*'] })).guard.simulate(
    session(0, { policyIds: [id], expiresAt: Number.MAX_SAFE_INTEGER }),
    { authorization: undefined },
    LIST,
  )
  t.match(denied, { details: { keyId: '0123456789abcdef' } }, 'names the key that has the policy')
})
