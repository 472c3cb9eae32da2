// Alerts of caps: when one is given, what it says, and that it is given at least once.
import type { GuardOptions, Policy, SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { begins, calls, centsOf, chain } from '../policies/arbitrary.ts'
import {
  naiveAlerts,
  naiveAllows,
  ownerOf,
  sameAlertWindow,
  type Call,
  type History,
} from '../policies/naive.ts'
import { decide, world } from '../policies/steps.ts'
import { bench } from '../issuer.ts'
import { SPEND_STORES } from './stores.ts'
import { spender, WITHDRAWAL } from './spender.ts'

type Alert = Parameters<NonNullable<GuardOptions['onAlert']>>[0]

const NOON = Date.UTC(2026, 2, 27, 12)
const HOUR = 3_600_000
const entry = (window: string, cap: object): object => ({
  operations: ['withdrawals.*'],
  window,
  alertAtPercent: 80,
  ...cap,
})

/** A guard that notes its alerts, whose policy can be replaced. */
async function alerting(policy: object, spend: SpendStorage = memorySpends(), id = 'p') {
  const given: Alert[] = []
  const made = await bench({ spend, onAlert: alert => void given.push(alert) })
  made.clock.set(NOON)
  let document = policy
  const reserve = async (amountCents: number, holdId?: string) => {
    const access = made.guard.checkPolicies('acc_1', [{ id, document }], WITHDRAWAL)
    if (!access.ok) throw new Error(access.code)
    return made.guard.reserve(access.value, { amountCents, currency: 'USD', ...(holdId ? { holdId } : {}) })
  }
  return { ...made, given, reserve, replace: (next: object) => (document = next) }
}

for (const [name, open] of SPEND_STORES) {
  t.test(`gives an alert once for each counter and window, with its numbers: ${name}`, async t => {
    const { spend, close } = await open()
    t.teardown(close)
    const policy = {
      dailySpendCapCents: 1000,
      alertAtPercent: 80,
      limits: [entry('week', { maxCents: 3000 })],
    }
    const { clock, given, reserve } = await alerting(policy, spend, 'pol_0123456789abcdef_00000000')
    await reserve(799)
    t.same(given, [], 'below the percentage')
    await reserve(1)
    const daily = {
      accountId: 'acc_1',
      policyId: 'pol_0123456789abcdef_00000000',
      keyId: '0123456789abcdef',
      rule: 'dailySpendCapCents',
      operations: undefined,
      unit: 'cents',
      window: 'day',
      timeZone: undefined,
      limit: 1000,
      used: 800,
      alertAtPercent: 80,
      resetsAt: Date.UTC(2026, 2, 28),
    }
    t.match(given, [daily], 'exactly at it')
    t.match(given[0]?.id, /^alt_[\w-]{43}$/)
    await reserve(200)
    t.equal(given.length, 1, 'once')
    clock.advance(24 * HOUR)
    await reserve(1000)
    t.match(given[1], { ...daily, used: 1000, resetsAt: Date.UTC(2026, 2, 29) }, 'again in the next window')
    clock.advance(24 * HOUR)
    await reserve(400)
    const weekly = { rule: 'limits', operations: ['withdrawals.*'], window: 'week', limit: 3000, used: 2400 }
    t.match(given[2], { ...weekly, resetsAt: Date.UTC(2026, 2, 30) })
    t.equal(new Set(given.map(({ id }) => id)).size, 3, 'each has an id of its own')
  })

  t.test(`gives an alert again if the process that reached it was killed: ${name}`, async t => {
    const { spend, other, close } = await open()
    t.teardown(close)
    const policy = { dailySpendCapCents: 1000, alertAtPercent: 80 }
    const killed = await alerting(policy, spend)
    await killed.reserve(900, 'lost')
    const after = await alerting(policy, other)
    await after.reserve(900, 'lost')
    t.same(after.given, killed.given, 'with the repeat of the same reservation')
    const next = await alerting(policy, spend)
    t.match(await next.reserve(101), { code: 'policy_blocked' })
    t.same(next.given, killed.given, 'and with a reservation that the cap denies')
  })

  t.test(`gives an alert at least once when many reserve at once: ${name}`, async t => {
    const { spend, other, close } = await open()
    t.teardown(close)
    const policy = { limits: [entry('day', { maxCents: 20 }), entry('total', { maxCount: 30 })] }
    const guards = [await alerting(policy, spend), await alerting(policy, other)]
    await Promise.all(Array.from({ length: 40 }, (_, n) => guards[n % 2]!.reserve(1)))
    const given = guards.flatMap(guard => guard.given)
    t.equal(new Set(given.map(({ id }) => id)).size, 1, 'of the counter that reached it')
    t.ok(given.length <= 2, 'once in each process')
    t.ok(given.every(({ used, limit }) => used >= 16 && used <= 20 && limit === 20))
  })

  t.test(`a limit of calls gives its alert when the guard accepts the call: ${name}`, async t => {
    const { spend, close } = await open()
    t.teardown(close)
    const given: Alert[] = []
    const limit = { operations: ['cards.create'], window: 'month', maxCount: 4, alertAtPercent: 75 }
    const { guard, bearer } = await bench({
      spend,
      policies: async () => [{ limits: [limit] }],
      onAlert: alert => void given.push(alert),
    })
    const authorization = await bearer({ policyIds: ['p'] })
    const rule = { operation: 'cards.create', allOf: [] }
    for (let call = 1; call <= 5; call++) {
      await guard.check({ authorization }, rule)
      t.equal(given.length, call < 3 ? 0 : 1, `call ${call}`)
    }
    t.match(given, [{ unit: 'count', limit: 4, used: 3, policyId: 'p', keyId: undefined }])
  })

  t.test(`of a rolling window, an alert is given once in each period of its length: ${name}`, async t => {
    const { spend, close } = await open()
    t.teardown(close)
    const { clock, given, reserve } = await alerting({ limits: [entry('24h', { maxCents: 100 })] }, spend)
    await reserve(90)
    t.match(given, [{ window: '24h', used: 90, resetsAt: NOON + 25 * HOUR }], 'until its bucket has left')
    clock.set(Date.UTC(2026, 2, 28) - 1)
    await reserve(1)
    t.equal(given.length, 1)
    clock.set(Date.UTC(2026, 2, 28))
    await reserve(1)
    t.match(given[1], { used: 92 }, 'in the next period')
    t.not(given[1]?.id, given[0]?.id)
  })
}

t.test('use that falls and rises again inside a window gives no second alert', async t => {
  const { guard, given, reserve } = await alerting({ dailySpendCapCents: 100, alertAtPercent: 50 })
  const hold = await reserve(60)
  if (!hold.ok) throw new Error(hold.code)
  await guard.release(hold.value)
  await reserve(40)
  t.equal(given.length, 1)
  await reserve(30)
  t.equal(given.length, 1)
})

t.test('a raised cap or another percentage does not give the alert of the same window again', async t => {
  const { given, reserve, replace } = await alerting({ dailySpendCapCents: 100, alertAtPercent: 50 })
  await reserve(60)
  replace({ dailySpendCapCents: 1000, alertAtPercent: 10 })
  await reserve(100)
  t.equal(given.length, 1)
})

t.test('a reservation is decided when its alert has been received, not before', async t => {
  const order: string[] = []
  const { guard, access } = await spender(
    { dailySpendCapCents: 100, alertAtPercent: 50 },
    {
      spend: memorySpends(),
      onAlert: async () => {
        await new Promise(setImmediate)
        order.push('received')
      },
    },
  )
  await guard.reserve(access, { amountCents: 60, currency: 'USD' })
  order.push('reserved')
  t.same(order, ['received', 'reserved'])
})

t.test('a failing receiver changes no decision, and gets the alert again', async t => {
  const warnings: Error[] = []
  const note = (warning: Error): void => void warnings.push(warning)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  let calls = 0
  const { guard, access } = await spender(
    { dailySpendCapCents: 100, alertAtPercent: 50 },
    {
      spend: memorySpends(),
      onAlert: async () => {
        calls++
        if (calls === 1) throw new Error('the mail server is down')
      },
    },
  )
  for (const amountCents of [60, 10, 10])
    t.match(await guard.reserve(access, { amountCents, currency: 'USD' }), { ok: true })
  t.equal(calls, 2)
  await new Promise(setImmediate)
  t.match(warnings, [{ message: 'onAlert failed', cause: { message: 'the mail server is down' } }])
})

t.test('what is reserved in a store of the caller gives its alert each time, with that store', async t => {
  const stores: SpendStorage[] = []
  const { guard, access } = await spender(
    { dailySpendCapCents: 100, alertAtPercent: 50 },
    { spend: memorySpends(), onAlert: (_, storage) => void stores.push(storage) },
  )
  const transaction = memorySpends()
  for (const amountCents of [60, 10])
    await guard.reserve(access, { amountCents, currency: 'USD' }, transaction)
  t.same(stores.length, 2)
  t.ok(stores.every(store => store === transaction))
})

t.test('a percentage of any cap is rounded up, and an unused cap gives no alert', async t => {
  const caps: [cap: number, percent: number, from: number][] = [
    [0, 1, 1],
    [3, 50, 2],
    [1, 1, 1],
    [Number.MAX_SAFE_INTEGER, 33, 2_972_375_754_064_528],
  ]
  for (const [maxCents, alertAtPercent, from] of caps) {
    const { given, reserve } = await alerting({ limits: [entry('total', { maxCents, alertAtPercent })] })
    await reserve(0)
    if (from > maxCents) {
      await reserve(1)
      t.same(given, [], 'a cap of 0')
      continue
    }
    await reserve(from - 1)
    t.same(given, [], `${alertAtPercent} % of ${maxCents}`)
    await reserve(1)
    t.match(given, [{ used: from }])
  }
})

/** Names the counter of an alert as the naive interpreter does. */
function counterOf({ policyId, rule, unit, window, timeZone = 'UTC', operations }: Alert): string {
  if (!operations) return [ownerOf(policyId), rule, timeZone].join()
  const zone = ['day', 'week', 'month'].includes(window) ? timeZone : ''
  return [ownerOf(policyId), rule, unit, window, zone, ...operations].join()
}

/** The members of a policy that count, since most calls would be denied by the others. */
const counting = ({
  dailySpendCapCents,
  dailyWithdrawalCapCents,
  limits,
  timeZone,
  alertAtPercent,
}: Policy): Policy =>
  JSON.parse(
    JSON.stringify({ dailySpendCapCents, dailyWithdrawalCapCents, limits, timeZone, alertAtPercent }),
  ) as Policy

t.test('gives the alerts that the naive interpreter gives, and changes no decision', async t => {
  let [alerts, denied] = [0, 0]
  await fc.assert(
    fc.asyncProperty(chain, calls, begins, async (drawn, steps, begin) => {
      const policies = Object.fromEntries(Object.entries(drawn).map(([id, policy]) => [id, counting(policy)]))
      const given: Alert[] = []
      const { clock, guard, over } = world(policies, { onAlert: alert => void given.push(alert) })
      const silent = world(policies)
      const history: History[number][] = []
      const seen: { readonly counter: string; readonly now: number }[] = []
      clock.set(begin)
      silent.clock.set(begin)
      const ids = Object.keys(policies)
      for (const step of steps.map(each => ({ ...each, ends: 'open' as const }))) {
        clock.advance(step.step)
        silent.clock.advance(step.step)
        const countsAs = step.kind === undefined ? [] : step.countsAs
        const cents = centsOf(step.amount, step.currency)
        const call: Call = { ...step, countsAs, cents, now: clock.now() }
        given.length = 0
        const decision = await decide(guard, over(ids), step)
        const unchanged = await decide(silent.guard, silent.over(ids), step)
        if (JSON.stringify(decision) !== JSON.stringify(unchanged))
          throw new Error(`${JSON.stringify(decision)} is not ${JSON.stringify(unchanged)}`)
        if (!naiveAllows(policies, call, history)) {
          denied++
          // What the last period of a rolling window has used reaches the alert of the next one.
          const early = given.filter(({ window, used, limit, alertAtPercent: percent }) => {
            if (window in { '24h': 1, '7d': 1, '30d': 1 }) return used * 100 < percent * limit
            return true
          })
          if (early.length > 0) throw new Error(`a denied call gave ${JSON.stringify(early)}`)
          seen.push(...given.map(alert => ({ counter: counterOf(alert), now: call.now })))
          continue
        }
        const expected = naiveAlerts(policies, call, history).filter(
          alert =>
            !seen.some(each => each.counter === alert.counter && sameAlertWindow(alert, each.now, call.now)),
        )
        const got = given
          .map(each => [counterOf(each), each.limit, each.used, each.alertAtPercent].join())
          .sort()
        const due = expected.map(each => [each.counter, each.limit, each.used, each.percent].join()).sort()
        if (got.join('; ') !== due.join('; '))
          throw new Error(`gave ${got.join('; ')}, not ${due.join('; ')}`)
        alerts += got.length
        seen.push(...expected.map(({ counter }) => ({ counter, now: call.now })))
        history.push({ ...call, chain: policies })
      }
    }),
    { numRuns: randomCases(300) },
  )
  t.comment(`${alerts} alerts, ${denied} denials`)
  t.ok(alerts > 0 && denied > 0, `${alerts} alerts, ${denied} denials`)
})
