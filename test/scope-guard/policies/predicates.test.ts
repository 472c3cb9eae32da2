import type { Rule, EpochMs } from '@gatewright/kernel'
import { keyPolicyId } from '@gatewright/kernel/internal'
import type { Policy, SpendStorage, GuardOptions } from '@gatewright/scope-guard'
import { memoryApprovals, memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench, session } from '../issuer.ts'

const NOON = Date.UTC(2026, 10, 20, 12)
/** The id that all policies of one key share. */
const LINEAGE = 'aB3dE6gH9jK2mN5p'

/** Checks calls of a session with policies `p0`, `p1`, ... in a given order. The result is true, or the details of the denial. */
async function guarded(policies: Readonly<Record<string, Policy>>, options: Partial<GuardOptions> = {}) {
  const { guard, clock } = await bench({
    policies: async ids => ids.map(id => policies[id]),
    spend: memorySpends(),
    ...options,
  })
  const call = async (
    rule: Partial<Rule> & { operation: string },
    { now = NOON, ids = Object.keys(policies) }: { now?: EpochMs; ids?: readonly string[] } = {},
  ): Promise<unknown> => {
    clock.set(now)
    const facts = { authorization: undefined }
    const access = await guard.authorize(session(now, { policyIds: ids }), facts, { allOf: [], ...rule })
    return access.ok || access.details
  }
  return { call, guard, clock }
}

t.test('asks for an amount above the threshold of an operation, and not for that amount', async t => {
  const approvals = { store: memoryApprovals(), url: () => 'https://pay.test' }
  const { guard } = await guarded({ p0: { approveAboveCents: 50 } }, { approvals })
  const rule = { operation: 'a.b', allOf: [], spends: 'spend' } as const
  const access = await guard.authorize(
    session(NOON, { policyIds: ['p0'] }),
    { authorization: undefined },
    rule,
  )
  if (!access.ok) throw new Error(access.code)
  const ask = (amountCents: number) => guard.reserve(access.value, { amountCents, currency: 'USD' })
  t.match(await ask(50), { ok: true })
  t.match(await ask(51), { details: { rule: 'approveAboveCents', requested: 51, limit: 50 } })
})

t.test('a call exactly at notBefore is allowed, one before it is denied with the instant', async t => {
  const { call } = await guarded({ p0: { notBefore: '2026-11-20T12:00:00Z' } })
  t.same(await call({ operation: 'a.b' }, { now: NOON - 1 }), {
    rule: 'notBefore',
    policyId: 'p0',
    notBefore: '2026-11-20T12:00:00Z',
  })
  t.equal(await call({ operation: 'a.b' }, { now: NOON }), true)
})

t.test('a call exactly at notAfter is denied with the instant, one before it is allowed', async t => {
  const { call } = await guarded({ p0: { notAfter: '2026-11-20T12:00:00Z' } })
  t.equal(await call({ operation: 'a.b' }, { now: NOON - 1 }), true)
  t.same(await call({ operation: 'a.b' }, { now: NOON }), {
    rule: 'notAfter',
    policyId: 'p0',
    notAfter: '2026-11-20T12:00:00Z',
  })
})

t.test('tag.* matches the operations below a tag, and none whose name only begins like it', async t => {
  const { call } = await guarded({ p0: { denyOperations: ['cards.*'] } })
  t.same(await call({ operation: 'cards.list' }), { rule: 'denyOperations', policyId: 'p0' })
  t.same(await call({ operation: 'cards.limits.list' }), { rule: 'denyOperations', policyId: 'p0' })
  t.equal(await call({ operation: 'cardsets.list' }), true)
  const counting = await guarded({ p0: { limits: [{ operations: ['c.*'], window: 'day', maxCount: 0 }] } })
  t.match(await counting.call({ operation: 'c.a' }), { rule: 'limits' }, 'a tag of one letter')
  t.match(await counting.call({ operation: 'c.a.b.c' }), { rule: 'limits' })
  t.equal(await counting.call({ operation: 'ca.b' }), true)
})

t.test('decides on each of more operations than it remembers', async t => {
  const { call } = await guarded({ p0: { denyOperations: ['a.x3', 'a.x64', 'a.x65'] } })
  for (const round of [1, 2])
    for (let n = 0; n < 70; n++) {
      const denied = n === 3 || n === 64 || n === 65
      const result = await call({ operation: `a.x${n}` })
      t.same(result, denied ? { rule: 'denyOperations', policyId: 'p0' } : true, `${n}, round ${round}`)
    }
})

t.test('names the policy whose id comes first, in whatever order the session lists them', async t => {
  const deny: Policy = { denyOperations: ['a.b'] }
  const { call } = await guarded({ p0: deny, p1: deny, p2: deny })
  for (const ids of [
    ['p0', 'p1', 'p2'],
    ['p2', 'p1', 'p0'],
    ['p1', 'p2', 'p0'],
  ])
    t.same(await call({ operation: 'a.b' }, { ids }), { rule: 'denyOperations', policyId: 'p0' })
})

t.test('counts under names that stay the same: owner, rule, window', async t => {
  const counters: string[] = []
  const spends = memorySpends()
  const spend: SpendStorage = {
    ...spends,
    reserve: (accountId, holdId, items, now) => {
      counters.push(...items.map(({ counter, expiresAt }) => `${counter} until ${expiresAt}`))
      return spends.reserve(accountId, holdId, items, now)
    },
  }
  const limits: Policy['limits'] = [
    { operations: ['w.make', 'a.b'], window: 'month', maxCents: 9 },
    { operations: ['w.*'], window: 'total', maxCount: 9 },
  ]
  const policies = { p1: { dailySpendCapCents: 9 }, p0: { dailyWithdrawalCapCents: 9, limits } }
  const { guard, clock } = await guarded(policies, { spend })
  clock.set(NOON)
  const holder = session(NOON, { policyIds: ['p1', 'p0'] })
  const rule: Rule = { operation: 'w.make', allOf: [], spends: 'withdrawal' }
  const access = await guard.authorize(holder, { authorization: undefined }, rule)
  if (!access.ok) throw new Error(access.message)
  t.match(await guard.reserve(access.value, { amountCents: 1, currency: 'USD' }), { ok: true })
  const [day, month] = [Date.UTC(2026, 10, 21), Date.UTC(2026, 11, 1)]
  t.same(counters, [
    `["p0","dailyWithdrawalCapCents"]@2026-11-20 until ${day}`,
    `["p0","limits","cents","month","a.b","w.make"]@2026-11 until ${month}`,
    `["p0","limits","count","total","w.*"]@total until null`,
    `["p1","dailySpendCapCents"]@2026-11-20 until ${day}`,
  ])
})

t.test('of caps that share a counter the lowest applies; of equal ones the first by id is named', async t => {
  const policies = {
    [keyPolicyId(LINEAGE, 'aaaaaaaa')]: { dailySpendCapCents: 9 },
    [keyPolicyId(LINEAGE, 'bbbbbbbb')]: { dailySpendCapCents: 5 },
    [keyPolicyId(LINEAGE, 'cccccccc')]: { dailySpendCapCents: 5 },
  }
  const { guard, clock } = await guarded(policies)
  clock.set(NOON)
  const policyIds = Object.keys(policies).toReversed()
  const rule: Rule = { operation: 'a.b', allOf: [], spends: 'spend' }
  const facts = { authorization: undefined }
  const access = await guard.authorize(session(NOON, { policyIds }), facts, rule)
  if (!access.ok) throw new Error(access.message)
  t.match(await guard.reserve(access.value, { amountCents: 6, currency: 'USD' }), {
    ok: false,
    details: { rule: 'dailySpendCapCents', policyId: keyPolicyId(LINEAGE, 'bbbbbbbb'), remaining: 5 },
  })
  t.match(await guard.reserve(access.value, { amountCents: 5, currency: 'USD' }), { ok: true })
})

t.test('lists a cap on one call without a counter, and the others with what is left', async t => {
  const { guard, clock, call } = await guarded({
    p0: {
      maxAuthAmountCents: 5,
      limits: [
        { operations: ['a.b'], window: 'operation', maxCents: 4 },
        { operations: ['a.b'], window: 'total', maxCount: 3 },
      ],
    },
  })
  t.equal(await call({ operation: 'a.b' }), true)
  t.match(await guard.caps(session(clock.now(), { policyIds: ['p0'] })), [
    { rule: 'limits', window: 'operation', cap: 4, used: 0, remaining: 4, resetsAt: null },
    { rule: 'limits', window: 'total', cap: 3, used: 1, remaining: 2, resetsAt: null },
    { rule: 'maxAuthAmountCents', window: 'operation', cap: 5, used: 0, resetsAt: null },
  ])
})
