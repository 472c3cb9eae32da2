import { keyPolicyId } from '@gatewright/kernel/internal'
import { memorySpends } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { bench } from '../issuer.ts'
import { spender, WITHDRAWAL as rule } from './spender.ts'

t.test('accepts an amount up to maxAuthAmountCents and blocks one cent more', async t => {
  const { reserve } = await spender({ maxAuthAmountCents: 5000 })
  t.match(await reserve(5000), { ok: true, value: { accountId: 'acc_1', amountCents: 5000, held: false } })
  t.match(await reserve(5001), {
    code: 'policy_blocked',
    status: 403,
    details: { rule: 'maxAuthAmountCents', policyId: 'p', remaining: 5000 },
  })
})

t.test('blocks and names the rule when a policy needs counters and the host has no store', async t => {
  const counted = [
    { dailySpendCapCents: 100 },
    { dailyWithdrawalCapCents: 100 },
    { limits: [{ operations: ['withdrawals.*'], maxCount: 5, window: 'day' }] },
  ]
  for (const policy of counted) {
    const { reserve } = await spender(policy)
    t.match(await reserve(1), {
      code: 'policy_blocked',
      details: { rule: Object.keys(policy)[0], policyId: 'p' },
    })
  }
  const calls = { limits: [{ operations: ['cards.*'], maxCount: 5, window: 'day' }] }
  const { guard, bearer } = await bench({ policies: async () => [calls] })
  const authorization = await bearer({ policyIds: ['p'] })
  t.match(await guard.check({ authorization }, { operation: 'cards.list', allOf: [] }), {
    details: { rule: 'limits' },
  })
})

t.test('blocks another currency under a money cap, and accepts it without a cap', async t => {
  const capped = await spender({ maxAuthAmountCents: 5000 })
  t.match(await capped.reserve(1, 'EUR'), {
    code: 'policy_blocked',
    details: { rule: 'currency', policyId: 'p' },
  })
  const free = await spender({ denyOperations: ['cards.*'] })
  t.match(await free.reserve(1, 'EUR'), { ok: true, value: { amountCents: 0, held: false } })
})

t.test('counts a spend at once exactly as a hold that is settled in full', async t => {
  const policy = {
    dailySpendCapCents: 100,
    limits: [
      { operations: ['withdrawals.*'], maxCount: 5, window: 'month' },
      { operations: ['withdrawals.create', 'cards.create'], maxCents: 120, window: 'total' },
    ],
  }
  const spendOf = fc.record({ amountCents: fc.integer({ min: 0, max: 60 }), inEuro: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(spendOf, { maxLength: 8 }), async spends => {
      const options = () => ({ spend: memorySpends(), rates: () => 1.1 })
      const settled = await spender(policy, options())
      const atOnce = await spender(policy, options())
      for (const { amountCents, inEuro } of spends) {
        const currency = inEuro ? 'EUR' : 'USD'
        const hold = await settled.reserve(amountCents, currency)
        if (hold.ok) t.equal(await settled.guard.settle(hold.value), 'settled', 'in full')
        const spent = await atOnce.guard.reserve(atOnce.access, { amountCents, currency, isSpent: true })
        t.equal(spent.ok, hold.ok)
        if (!hold.ok) t.same(spent, hold)
        else t.match(spent, { value: { ...hold.value, id: String, held: false } })
        if (spent.ok) t.equal(await atOnce.guard.release(spent.value), true, 'there is nothing to end')
        const states = await Promise.all(
          [settled, atOnce].map(({ guard, access }) => guard.caps(access.session)),
        )
        t.same(states[1], states[0])
      }
    }),
    { numRuns: randomCases(40) },
  )
})

t.test('a spend at once makes no hold, so it takes no id of one', async t => {
  const { guard, access } = await spender({ dailySpendCapCents: 100 }, { spend: memorySpends() })
  const spend = { amountCents: 1, currency: 'USD', isSpent: true, holdId: 'run_1' }
  await t.rejects(guard.reserve(access, spend), /leave holdId out/)
})

t.test('fixes the rate when it reserves, and settles a proportion of what was held', async t => {
  let rate: number | undefined = 1.1
  const spend = memorySpends()
  const { guard, reserve } = await spender({ dailySpendCapCents: 1000 }, { spend, rates: () => rate })
  const hold = await reserve(501, 'EUR')
  t.match(hold, { ok: true, value: { amountCents: 552, requested: { amountCents: 501, currency: 'EUR' } } })
  if (!hold.ok) return
  rate = 99
  t.equal(await guard.settle(hold.value, 250), 'settled')
  // 552 * 250 / 501 = 275.4..., rounded up: 276 are used and 724 remain.
  rate = 1
  t.match(await reserve(725, 'EUR'), { details: { rule: 'dailySpendCapCents', remaining: 724 } })
  t.match(await reserve(724, 'EUR'), { ok: true })
  rate = undefined
  t.match(await reserve(1, 'EUR'), { details: { rule: 'currency' } })
})

t.test('throws a fault when the rates are unavailable or malformed', async t => {
  const policy = { maxAuthAmountCents: 1 }
  for (const rates of [
    () => Promise.reject(new Error('down')),
    () => NaN,
    () => Infinity,
    () => 0,
    () => -1,
  ]) {
    const { reserve } = await spender(policy, { rates })
    await t.rejects(reserve(1, 'EUR'), { name: 'Fault' })
  }
})

t.test('counts a repeated reservation of one hold id once, and denies other amounts under it', async t => {
  const { reserve } = await spender({ dailySpendCapCents: 100 }, { spend: memorySpends() })
  t.match(await reserve(60, 'USD', 'effect-1'), { ok: true, value: { id: 'effect-1', held: true } })
  t.match(await reserve(60, 'USD', 'effect-1'), { ok: true, value: { id: 'effect-1' } })
  t.match(await reserve(40, 'USD', 'effect-2'), { ok: true })
  await t.rejects(reserve(40, 'USD', 'effect-1'), /holdId is in use/)
})

t.test('a hold counts until it is released, and ends once', async t => {
  const { guard, reserve } = await spender({ dailySpendCapCents: 100 }, { spend: memorySpends() })
  const hold = await reserve(100)
  if (!hold.ok) return t.fail('denied')
  t.match(await reserve(1), { code: 'policy_blocked' })
  t.equal(await guard.settle(hold.value, 101), 'exceeds')
  // As it would come back from a business row.
  const stored = JSON.parse(JSON.stringify(hold.value)) as typeof hold.value
  t.equal(await guard.release(stored), true)
  t.equal(await guard.release(stored), false)
  t.equal(await guard.settle(stored), 'gone')
  t.match(await reserve(100), { ok: true })
})

t.test('new sessions, new keys and a rotated key share the counters of their policy', async t => {
  const { guard, bearer } = await bench({
    policies: async ids => ids.map(() => ({ dailySpendCapCents: 100 })),
    spend: memorySpends(),
  })
  const spend = async (changes: object): Promise<unknown> => {
    const access = await guard.check({ authorization: await bearer({ policyIds: ['p'], ...changes }) }, rule)
    if (!access.ok) return access.details
    return (await guard.reserve(access.value, { amountCents: 60, currency: 'USD' })).ok
  }
  t.equal(await spend({ sessionId: 's1', keyId: 'k1' }), true)
  t.equal(await spend({ sessionId: 's2', keyId: 'k1' }), false)
  t.equal(await spend({ sessionId: 's3', keyId: 'k2' }), false)
  t.equal(await spend({ sessionId: 's4', keyId: 'k1', keyVersion: 2 }), false)
  t.equal(await spend({ sessionId: 's5', policyIds: ['p', 'leaf'] }), false)
  t.equal(await spend({ accountId: 'acc_2' }), true)
})

t.test(
  'the policies that one key is given share their counters, and the lowest of equal caps applies',
  async t => {
    const [first, next, narrowing] = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'].map(random =>
      keyPolicyId('aB3dE6gH9jK2mN5p', random),
    ) as [string, string, string]
    const caps: Record<string, number> = { [first]: 100, [next]: 80, [narrowing]: 70 }
    const { guard, bearer } = await bench({
      policies: async ids => ids.map(id => ({ dailySpendCapCents: caps[id] })),
      spend: memorySpends(),
    })
    const spend = async (amountCents: number, ...policyIds: string[]): Promise<unknown> => {
      const access = await guard.check({ authorization: await bearer({ policyIds }) }, rule)
      if (!access.ok) return access.details
      const reserved = await guard.reserve(access.value, { amountCents, currency: 'USD' })
      return reserved.ok || reserved.details
    }
    t.equal(await spend(60, first), true)
    t.match(await spend(21, next), { policyId: next, remaining: 20 }, 'a lower cap keeps what was used')
    t.match(await spend(11, first, next, narrowing), { policyId: narrowing, remaining: 10 })
    t.equal(await spend(10, first, next, narrowing), true, 'and counts once')
    t.match(await spend(31, first), { policyId: first, remaining: 30 })
    t.equal(await spend(30, first), true)
  },
)

t.test('denies a malformed amount or currency with 400, and names the field', async t => {
  for (const policy of [{}, { maxAuthAmountCents: 5 }, { dailySpendCapCents: 5 }]) {
    const { guard, access, reserve } = await spender(policy, { spend: memorySpends() })
    const denial = (field: string) => ({ ok: false, code: 'invalid_request', status: 400, field })
    const amounts: unknown[] = [
      -1,
      0.5,
      NaN,
      Infinity,
      2 ** 53,
      'abc',
      '1',
      '',
      null,
      undefined,
      {},
      [1],
      true,
      1n,
    ]
    for (const amount of amounts) t.match(await reserve(amount as number), denial('amountCents'))
    for (const currency of ['usd', '', 'US', 'USDC', 1, null, {}, ['USD']]) {
      t.match(await reserve(1, currency as string), denial('currency'))
      const spend = { amountCents: 1, currency: currency as string }
      t.match(
        await guard.simulate(access.session, { authorization: undefined }, rule, spend),
        denial('currency'),
      )
    }
    t.match(await reserve(1), { ok: true })
  }
})

t.test('denies an amount that is too large to convert with 400 and not with a fault', async t => {
  const { reserve } = await spender({ maxAuthAmountCents: 5 }, { rates: () => 1.5 })
  t.match(await reserve(Number.MAX_SAFE_INTEGER, 'EUR'), {
    code: 'invalid_request',
    status: 400,
    field: 'amountCents',
  })
})

t.test('throws for a rule that does not spend and for an empty hold id', async t => {
  const { guard, access, bearer } = await spender({})
  await t.rejects(guard.reserve(access, { amountCents: 1, currency: 'USD', holdId: '' }), TypeError)
  const reading = await guard.check({ authorization: await bearer() }, { operation: 'cards.list', allOf: [] })
  if (!reading.ok) return
  await t.rejects(
    guard.reserve(reading.value, { amountCents: 1, currency: 'USD' }),
    /must have spends: 'spend' or 'withdrawal' to reserve/,
  )
})

t.test(
  'counts a spend that completes another operation once under each limit that names either operation',
  async t => {
    const most = (operations: string[]) => ({ operations, maxCents: 100, window: 'total' })
    const named = [['orders.ask'], ['withdrawals.create'], ['orders.ask', 'withdrawals.*']]
    for (const operations of named) {
      const { guard, access } = await spender({ limits: [most(operations)] }, { spend: memorySpends() })
      const spend = { amountCents: 60, currency: 'USD', countsAs: ['orders.ask'] }
      t.match(await guard.reserve(access, spend), { ok: true, value: { held: true } })
      t.match(await guard.reserve(access, spend), { code: 'policy_blocked', details: { remaining: 40 } })
    }
    const other = await spender({ limits: [most(['orders.pay'])] }, { spend: memorySpends() })
    const spend = { amountCents: 101, currency: 'USD', countsAs: ['orders.ask'] }
    t.match(await other.guard.reserve(other.access, spend), { ok: true, value: { held: false } })
  },
)

t.test('permits what one call may move, whatever the counters contain, and holds nothing', async t => {
  const spend = memorySpends()
  const limits = [
    { operations: ['withdrawals.*'], window: 'operation', maxCents: 50 },
    { operations: ['cards.*'], window: 'operation', maxCents: 1 },
    { operations: ['withdrawals.*'], window: 'day', maxCount: 1 },
  ]
  const { guard, access, reserve } = await spender(
    { maxAuthAmountCents: 60, dailySpendCapCents: 40, limits },
    { spend },
  )
  t.match(await reserve(40), { ok: true })
  t.match(await reserve(1), { code: 'policy_blocked' })
  t.match(await guard.permits(access, { amountCents: 50, currency: 'USD' }), { ok: true })
  const over = await guard.permits(access, { amountCents: 51, currency: 'USD' })
  t.match(over, {
    details: { rule: 'limits', window: 'operation', remaining: 50 },
    evidence: { accountId: 'acc_1' },
  })
  t.match(await guard.permits(access, { amountCents: 61, currency: 'USD' }), {
    code: 'policy_blocked',
    status: 403,
    headers: [],
  })
  t.match(await guard.permits(access, { amountCents: 1, currency: 'EUR' }), { details: { rule: 'currency' } })
  t.match(await guard.permits(access, { amountCents: 1.5, currency: 'USD' }), { field: 'amountCents' })
  t.match(
    await reserve(0),
    { code: 'policy_blocked', details: { unit: 'count' } },
    'one call was counted, not three',
  )
})

t.test(
  'permits at the current rate, needs no store, and allows every amount for an operation that does not spend',
  async t => {
    let rate: number | undefined = 2
    const { guard, access, bearer } = await spender(
      { maxAuthAmountCents: 10, dailySpendCapCents: 1 },
      { rates: () => rate },
    )
    t.match(await guard.permits(access, { amountCents: 5, currency: 'EUR' }), { ok: true })
    rate = 2.1
    t.match(await guard.permits(access, { amountCents: 5, currency: 'EUR' }), { code: 'policy_blocked' })
    rate = NaN
    await t.rejects(guard.permits(access, { amountCents: 5, currency: 'EUR' }), { name: 'Fault' })
    const authorization = await bearer({ policyIds: ['p'] })
    const reading = await guard.check({ authorization }, { operation: 'cards.list', allOf: [] })
    if (!reading.ok) return t.fail(reading.code)
    t.match(await guard.permits(reading.value, { amountCents: 11, currency: 'USD' }), { ok: true })
  },
)
