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

t.test('a week begins on Monday at midnight UTC, also across the end of a year', async t => {
  const limits = [{ operations: ['withdrawals.*'], maxCents: 100, window: 'week' }] as const
  const { clock, spend } = await wallet({ limits })
  clock.set(Date.UTC(2026, 11, 28))
  t.equal(await spend(60), true)
  clock.set(Date.UTC(2027, 0, 4) - 1)
  t.match(await spend(41), {
    rule: 'limits',
    window: 'week',
    remaining: 40,
    resetsAt: '2027-01-04T00:00:00.000Z',
  })
  clock.set(Date.UTC(2027, 0, 4))
  t.equal(await spend(100), true)
})

const ZONED_DAYS = [
  ['23 hours in spring', 'Europe/Berlin', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
  ['25 hours in autumn', 'Europe/Berlin', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
  ['23 hours, and its midnight does not exist', 'America/Santiago', '2026-09-06T04:00Z', '2026-09-07T03:00Z'],
  ['23 hours, and its midnight does not exist', 'Africa/Cairo', '2026-04-23T22:00Z', '2026-04-24T21:00Z'],
  ['25 hours, and its first hour repeats', 'America/Havana', '2026-11-01T04:00Z', '2026-11-02T05:00Z'],
  ['24 hours, 45 minutes off the full hour', 'Asia/Kathmandu', '2026-05-30T18:15Z', '2026-05-31T18:15Z'],
] as const

for (const [what, timeZone, begins, ends] of ZONED_DAYS) {
  t.test(`a day of ${timeZone} has ${what}`, async t => {
    const { clock, spend } = await wallet({ dailySpendCapCents: 100, timeZone })
    clock.set(Date.parse(begins) - 1)
    t.equal(await spend(100), true, 'the day before')
    clock.set(Date.parse(begins))
    t.equal(await spend(60), true, 'the first instant')
    clock.set(Date.parse(ends) - 1)
    const resetsAt = new Date(ends).toISOString()
    t.match(await spend(41), { timeZone, window: 'day', remaining: 40, resetsAt })
    t.equal(await spend(40), true, 'the last instant')
    clock.set(Date.parse(ends))
    t.equal(await spend(100), true, 'the next day')
  })
}

t.test('a day that a zone skipped has no instant, and the one after it begins at once', async t => {
  const { clock, spend } = await wallet({ dailySpendCapCents: 100, timeZone: 'Pacific/Apia' })
  clock.set(Date.parse('2011-12-30T10:00Z') - 1)
  t.equal(await spend(100), true)
  t.match(await spend(1), { resetsAt: '2011-12-30T10:00:00.000Z' })
  clock.set(Date.parse('2011-12-30T10:00Z'))
  t.equal(await spend(100), true)
  t.match(await spend(1), { resetsAt: '2011-12-31T10:00:00.000Z' })
})

t.test('weeks and months begin in the zone of their policy', async t => {
  const limit = (window: 'week' | 'month') => ({ operations: ['withdrawals.*'], maxCents: 100, window })
  const timeZone = 'America/New_York'
  const weeks = await wallet({ limits: [limit('week')], timeZone })
  weeks.clock.set(Date.parse('2026-11-02T04:59:59Z'))
  t.equal(await weeks.spend(100), true, 'Sunday')
  weeks.clock.set(Date.parse('2026-11-02T05:00Z'))
  t.equal(await weeks.spend(100), true, 'Monday')
  t.match(await weeks.spend(1), { resetsAt: '2026-11-09T05:00:00.000Z' })
  const months = await wallet({ limits: [limit('month')], timeZone })
  months.clock.set(Date.parse('2026-11-01T03:59:59Z'))
  t.equal(await months.spend(100), true, 'October')
  months.clock.set(Date.parse('2026-11-01T04:00Z'))
  t.equal(await months.spend(100), true, 'November')
  t.match(await months.spend(1), { resetsAt: '2026-12-01T05:00:00.000Z' })
})

t.test('a total and one call have no zone', async t => {
  const limits = [{ operations: ['withdrawals.*'], maxCents: 100, window: 'total' }] as const
  const { spend } = await wallet({ limits, timeZone: 'Europe/Berlin' })
  t.equal(await spend(100), true)
  t.notOk('timeZone' in ((await spend(1)) as object))
})

t.test('a policy with another zone adds a cap, and both bind', async t => {
  const cap = { dailySpendCapCents: 100 }
  const policies = [cap, { ...cap, timeZone: 'Asia/Tokyo' }]
  const { guard, clock } = await bench({ policies: async () => policies, spend: memorySpends() })
  const owner = 'pol_0123456789abcdef_'
  const holder = session(clock.now(), {
    policyIds: [`${owner}00000000`, `${owner}11111111`],
    expiresAt: Infinity,
  })
  const rule = { operation: 'withdrawals.create', allOf: [], spends: 'withdrawal' } as const
  const spend = async (amountCents: number): Promise<unknown> => {
    const access = await guard.authorize(holder, { authorization: undefined }, rule)
    if (!access.ok) return access.details
    const hold = await guard.reserve(access.value, { amountCents, currency: 'USD' })
    return hold.ok || hold.details
  }
  clock.set(Date.parse('2026-05-01T14:59Z'))
  t.equal(await spend(60), true)
  clock.set(Date.parse('2026-05-01T15:00Z'))
  t.match(
    await spend(41),
    { window: 'day', remaining: 40, resetsAt: '2026-05-02T00:00:00.000Z' },
    'UTC binds',
  )
  t.equal(await spend(40), true)
  clock.set(Date.parse('2026-05-02T00:00Z'))
  t.match(await spend(61), { timeZone: 'Asia/Tokyo', remaining: 60, resetsAt: '2026-05-02T15:00:00.000Z' })
  const caps = await guard.caps(holder)
  t.same(
    new Map(caps.map(({ timeZone, remaining }) => [timeZone, remaining])),
    new Map([
      [undefined, 100],
      ['Asia/Tokyo', 60],
    ]),
  )
})

t.test('the zone UTC counts where no zone does', async t => {
  const policies = [{ dailySpendCapCents: 100 }, { dailySpendCapCents: 50, timeZone: 'UTC' }]
  const { guard, clock } = await bench({ policies: async () => policies, spend: memorySpends() })
  const owner = 'pol_0123456789abcdef_'
  const holder = session(clock.now(), { policyIds: [`${owner}00000000`, `${owner}11111111`] })
  t.match(await guard.caps(holder), [{ cap: 50, timeZone: undefined }])
  t.equal((await guard.caps(holder)).length, 1)
})

t.test('says in words when a cap of another zone resets', async t => {
  const policy = { dailySpendCapCents: 100, timeZone: 'Europe/Berlin' }
  const { guard, clock } = await bench({ policies: async () => [policy], spend: memorySpends() })
  clock.set(Date.parse('2026-10-25T12:00Z'))
  const rule = { operation: 'withdrawals.create', allOf: [], spends: 'withdrawal' } as const
  const spend = { amountCents: 101, currency: 'USD' }
  const holder = session(clock.now(), { policyIds: ['p'] })
  const { decision, lines } = await guard.explain(holder, { authorization: undefined }, rule, spend)
  t.match(decision, {
    message:
      'Spending with this key is limited to 1.00 USD a day: 1.00 USD left, 1.01 USD requested. It resets at 2026-10-25 23:00 UTC, when a new day begins in Europe/Berlin.',
  })
  t.match(lines.join(' ').replace(/\s+/g, ' '), /resets at 2026-10-25 23:00 UTC, in Europe\/Berlin/)
})

t.test('names another cap of the same size and day, and none of another size', async t => {
  const messageOf = async (dailyWithdrawalCapCents: number): Promise<string> => {
    const policy = { dailySpendCapCents: 100, dailyWithdrawalCapCents }
    const { guard, clock } = await bench({ policies: async () => [policy], spend: memorySpends() })
    const rule = { operation: 'withdrawals.create', allOf: [], spends: 'withdrawal' } as const
    const holder = session(clock.now(), { policyIds: ['p'] })
    const spend = { amountCents: 101, currency: 'USD' }
    const { decision } = await guard.explain(holder, { authorization: undefined }, rule, spend)
    return decision.ok ? '' : decision.message
  }
  t.match(await messageOf(100), /^Spending .* is limited to 1\.00 USD a day \(withdrawals too\): /)
  t.match(await messageOf(101), /^Spending .* is limited to 1\.00 USD a day: /)
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
