// A reservation that is repeated under its hold id, when time, its amount or the policy has changed meanwhile.
import type { SpendHold, SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { bench } from '../issuer.ts'
import { SPEND_STORES } from './stores.ts'
import { WITHDRAWAL } from './spender.ts'

const most = (window: string, cap: object): object => ({ operations: ['withdrawals.*'], window, ...cap })

/** A guard with one policy that can be replaced. */
async function repeater(first: unknown, spend: SpendStorage = memorySpends(), rates = () => 1) {
  let policy = first
  const made = await bench({ spend, rates })
  const reserve = (amountCents: number, holdId: string, currency = 'USD') => {
    const access = made.guard.checkPolicies('acc_1', [{ id: 'p', document: policy }], WITHDRAWAL)
    if (!access.ok) throw new Error(access.code)
    return made.guard.reserve(access.value, { amountCents, currency, holdId })
  }
  return { ...made, spend, reserve, replace: (next: unknown) => (policy = next) }
}

/** The last millisecond of a window, and the first after it. */
const ENDS: readonly [title: string, policy: object, endsAt: string][] = [
  ['a day', { dailySpendCapCents: 100 }, '2026-03-29T00:00:00Z'],
  ['a day of withdrawals', { dailyWithdrawalCapCents: 100 }, '2026-03-29T00:00:00Z'],
  ['a day in Berlin', { dailySpendCapCents: 100, timeZone: 'Europe/Berlin' }, '2026-03-29T22:00:00Z'],
  ['a week', { limits: [most('week', { maxCents: 100 })] }, '2026-03-30T00:00:00Z'],
  [
    'a week in Auckland',
    { limits: [most('week', { maxCents: 100 })], timeZone: 'Pacific/Auckland' },
    '2026-04-05T12:00:00Z',
  ],
  ['a month', { limits: [most('month', { maxCents: 100 })] }, '2026-04-01T00:00:00Z'],
]

for (const [name, open] of SPEND_STORES) {
  t.test(`a reservation that is repeated after the end of its window finds its hold: ${name}`, async t => {
    for (const [title, policy, endsAt] of ENDS) {
      const { spend, close } = await open()
      t.teardown(close)
      const { guard, clock, reserve } = await repeater(policy, spend)
      clock.set(Date.parse(endsAt) - 1)
      t.match(await reserve(60, 'h'), { ok: true, value: { id: 'h', held: true } }, title)
      t.match(await reserve(41, 'other'), { code: 'policy_blocked' })
      clock.set(Date.parse(endsAt))
      const again = await reserve(60, 'h')
      t.match(again, { ok: true, value: { id: 'h', amountCents: 60, held: true } }, title)
      t.match(await reserve(101, 'new'), { code: 'policy_blocked' }, 'the new window has its whole cap')
      t.match(await reserve(100, 'new'), { ok: true }, 'and no more')
      clock.set(Date.parse(endsAt) - 1)
      t.match(await reserve(41, 'other'), { code: 'policy_blocked' }, 'it counts in its own window')
      t.equal(await guard.settle((again as { value: SpendHold }).value, 20), 'settled')
      t.match(await reserve(81, 'other'), { code: 'policy_blocked' })
      t.match(await reserve(80, 'other'), { ok: true }, 'and gives back there')
    }
  })
}

t.test('a repeat of other amounts or under other caps is a fault that says what to do', async t => {
  const changes: readonly [title: string, first: object, next: object, amountCents?: number][] = [
    ['another amount', { dailySpendCapCents: 100 }, { dailySpendCapCents: 100 }, 59],
    ['one more cap', { dailySpendCapCents: 100 }, { dailySpendCapCents: 100, dailyWithdrawalCapCents: 100 }],
    ['one cap less', { dailySpendCapCents: 100, dailyWithdrawalCapCents: 100 }, { dailySpendCapCents: 100 }],
    [
      'another window',
      { limits: [most('day', { maxCents: 100 })] },
      { limits: [most('week', { maxCents: 100 })] },
    ],
    [
      'another unit',
      { limits: [most('day', { maxCents: 100 })] },
      { limits: [most('day', { maxCount: 100 })] },
    ],
    [
      'another zone',
      { dailySpendCapCents: 100 },
      { dailySpendCapCents: 100, timeZone: 'Pacific/Kiritimati' },
    ],
  ]
  for (const [title, first, next, amountCents = 60] of changes)
    for (const days of [0, 1]) {
      const { guard, clock, reserve, replace } = await repeater(first)
      const hold = await reserve(60, 'h')
      if (!hold.ok) return t.fail(title)
      clock.advance(days * 86_400_000)
      replace(next)
      await t.rejects(
        reserve(amountCents, 'h'),
        { name: 'Fault', code: 'ERR_HOLD_CONFLICT', message: /release/ },
        title,
      )
      t.equal(await guard.release(hold.value), true, 'the hold is as it was')
      t.match(await reserve(amountCents, 'h'), { ok: true }, 'and without it the reservation is a new one')
    }
})

t.test('a repeat at another rate is a fault, and a cap with another number finds its hold', async t => {
  let rate = 1.1
  const { clock, reserve, replace } = await repeater({ dailySpendCapCents: 100 }, memorySpends(), () => rate)
  t.match(await reserve(60, 'h', 'EUR'), { ok: true, value: { amountCents: 66 } })
  clock.advance(86_400_000)
  replace({ dailySpendCapCents: 10 })
  t.match(await reserve(60, 'h', 'EUR'), { ok: true, value: { amountCents: 66 } })
  rate = 1.2
  await t.rejects(reserve(60, 'h', 'EUR'), { code: 'ERR_HOLD_CONFLICT' })
})

t.test('no window ever counts more than its cap, however often reservations are repeated', async t => {
  const HOURS = 3_600_000
  const step = fc.record({
    id: fc.integer({ min: 0, max: 9 }),
    hours: fc.integer({ min: 0, max: 30 }),
    end: fc.constantFrom('settle', 'release', 'keep', 'keep'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const { guard, clock, reserve } = await repeater({ dailySpendCapCents: 100 })
      // What each open hold counts, and the day that it counts in.
      const open = new Map<string, { day: number; cents: number }>()
      const kept = new Map<number, number>()
      for (const { id, hours, end } of steps) {
        clock.advance(hours * HOURS)
        const today = Math.floor(clock.now() / (24 * HOURS))
        const [holdId, cents] = [`h${id}`, 10 + 7 * id]
        const before = open.get(holdId)
        const countedToday =
          (kept.get(today) ?? 0) +
          [...open.values()].filter(({ day }) => day === today).reduce((sum, each) => sum + each.cents, 0)
        const reserved = await reserve(cents, holdId)
        t.equal(reserved.ok, before !== undefined || countedToday + cents <= 100)
        if (!reserved.ok) continue
        const hold = before ?? { day: today, cents }
        open.set(holdId, hold)
        if (end === 'keep') continue
        open.delete(holdId)
        if (end === 'release') t.equal(await guard.release(reserved.value), true)
        else {
          t.equal(await guard.settle(reserved.value), 'settled')
          kept.set(hold.day, (kept.get(hold.day) ?? 0) + cents)
        }
      }
    }),
    { numRuns: randomCases(60) },
  )
})
