import { Fault, type Rule } from '@gatewright/kernel'
import type { Spend } from '@gatewright/scope-guard/internal'
import type { GuardOptions } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import fc from 'fast-check'
import { deepEqual, equal, ok } from 'node:assert/strict'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { holds } from '../../harness/holds.ts'
import { bench, session } from '../issuer.ts'
import { call, calls, chain, ruleOf } from '../policies/arbitrary.ts'
import { decide, factsOf, spendOf, world } from '../policies/steps.ts'
import { spender, WITHDRAWAL } from '../spend/spender.ts'

const LIST = { operation: 'cards.list', allOf: [] } as const satisfies Rule
const FACTS = { authorization: undefined }
const dollars = (amountCents: number): Spend => ({ amountCents, currency: 'USD' })

/** Explains operations of a session under one policy. */
async function explainer(policy: unknown, options: Partial<GuardOptions> = {}) {
  const { guard, clock } = await bench({ policies: async () => [policy], ...options })
  const holder = session(clock.now(), { policyIds: ['p'] })
  return (rule: Rule, spend?: Spend) => guard.explain(holder, FACTS, rule, spend)
}

t.test('explains the decision of simulate and of the guard, and names the rule of the denial', async t =>
  holds(
    t,
    fc.asyncProperty(chain, calls, fc.boolean(), async (policies, steps, hasAmounts) => {
      const { clock, guard, over } = world(policies)
      const holder = over(Object.keys(policies))
      for (const step of steps) {
        clock.advance(step.step)
        const spend = step.kind && hasAmounts ? spendOf(step) : undefined
        const { decision, rules, lines } = await guard.explain(holder, factsOf(step), ruleOf(step), spend)
        const simulated = await guard.simulate(holder, factsOf(step), ruleOf(step), spend)
        deepEqual(verdictOf(decision), verdictOf(simulated))
        const binding = rules.filter(({ binds }) => binds)
        if (decision.ok) {
          deepEqual(
            rules.filter(({ outcome }) => outcome === 'blocks'),
            [],
          )
          ok(binding.every(({ outcome, cap }) => outcome === 'passes' && cap))
        } else {
          equal(binding.length, 1)
          const { rule, policyId, cap } = binding[0] as (typeof binding)[0]
          const { details } = decision
          equal(binding[0]?.outcome, 'blocks')
          deepEqual(
            [rule, policyId, cap?.window],
            [details?.['rule'], details?.['policyId'], details?.['window']],
          )
          if (cap && 'remaining' in (details ?? {})) equal(cap.remaining, details?.['remaining'])
        }
        for (const line of lines) ok(line.length <= 80, line)
        const decided = await decide(guard, holder, step)
        if (spend || !step.kind) deepEqual(decision.ok || decision.details, decided)
      }
    }),
    { numRuns: randomCases(60) },
  ),
)

/** What a caller sees of a decision. The compiled policies have functions. */
function verdictOf(verdict: { readonly ok: boolean }): unknown {
  return verdict.ok ? true : verdict
}

t.test('a session passes exactly if no rule of an explanation blocks', async t =>
  holds(
    t,
    fc.asyncProperty(chain, call, async (policies, step) => {
      const { guard, over } = world(policies)
      const spend = step.kind ? spendOf(step) : undefined
      const holder = over(Object.keys(policies))
      const { decision, rules } = await guard.explain(holder, factsOf(step), ruleOf(step), spend)
      equal(decision.ok, !rules.some(({ outcome }) => outcome === 'blocks'))
    }),
    { numRuns: randomCases(100) },
  ),
)

t.test('lists every rule of every policy with what is left, in words too', async t => {
  const limits = [
    { operations: ['withdrawals.*'], maxCents: 90_000, window: 'month' },
    { operations: ['cards.list'], maxCount: 3, window: 'total' },
  ]
  const policy = {
    denyOperations: ['keys.*'],
    maxAuthAmountCents: 50_000,
    dailySpendCapCents: 60_000,
    limits,
  }
  const { guard, access, hold } = await spender(policy, { spend: memorySpends() })
  await hold(20_000)
  const { decision, rules, lines } = await guard.explain(access.session, FACTS, WITHDRAWAL, dollars(45_000))
  t.match(decision, { code: 'policy_blocked', details: { rule: 'dailySpendCapCents', remaining: 40_000 } })
  t.match(rules, [
    { policyId: 'p', rule: 'denyOperations', outcome: 'passes', binds: false, cap: undefined },
    {
      rule: 'dailySpendCapCents',
      outcome: 'blocks',
      binds: true,
      requested: 45_000,
      cap: { cap: 60_000, used: 20_000, held: 20_000, remaining: 40_000 },
    },
    { rule: 'limits', outcome: 'passes', binds: false, cap: { window: 'month', remaining: 70_000 } },
    { rule: 'limits', outcome: 'skipped', requested: undefined, cap: { unit: 'count', remaining: 3 } },
    { rule: 'maxAuthAmountCents', outcome: 'passes', cap: { window: 'operation', remaining: 50_000 } },
  ])
  t.equal(rules.length, 5)
  t.same(lines, [
    'Denied (403 policy_blocked): Spending with this key is limited to 600.00 USD a',
    'day: 400.00 USD left, 450.00 USD requested. It resets at 00:00 UTC.',
    'p',
    '  passes  denyOperations',
    '  blocks  dailySpendCapCents (binds): 400.00 USD left of 600.00 USD a day,',
    '          200.00 USD held for open calls, 450.00 USD requested, resets at',
    '          2026-01-02 00:00 UTC',
    '  passes  limits: 700.00 USD left of 900.00 USD a month, 200.00 USD held for',
    '          open calls, 450.00 USD requested, for withdrawals.*, resets at',
    '          2026-02-01 00:00 UTC',
    '  skipped limits: 3 calls left of 3 calls in total, for cards.list',
    '  passes  maxAuthAmountCents: at most 500.00 USD at once, 450.00 USD requested',
  ])
})

t.test('names the closest cap of each unit if the call passes, at the exact amount that is left', async t => {
  const limits = [{ operations: ['withdrawals.*'], maxCount: 2, window: 'day' }]
  const explain = await explainer(
    { maxAuthAmountCents: 100, dailySpendCapCents: 80, limits },
    { spend: memorySpends() },
  )
  const exact = await explain(WITHDRAWAL, dollars(80))
  t.match(exact.decision, { ok: true })
  t.same(
    exact.rules.filter(({ binds }) => binds).map(({ rule }) => rule),
    ['dailySpendCapCents', 'limits'],
  )
  t.equal(exact.lines[0], 'Allowed.')
  const over = await explain(WITHDRAWAL, dollars(81))
  t.match(over.rules, [
    { rule: 'dailySpendCapCents', outcome: 'blocks', binds: true },
    {},
    { outcome: 'passes' },
  ])
})

t.test('skips the caps of a payment without an amount, and applies those of calls without money', async t => {
  const limits = [{ operations: ['cards.*'], maxCount: 0, window: 'day' }]
  const explain = await explainer({ dailySpendCapCents: 0, limits }, { spend: memorySpends() })
  const payment = await explain(WITHDRAWAL)
  t.match(payment.decision, { ok: true })
  t.same(
    payment.rules.map(({ outcome }) => outcome),
    ['skipped', 'skipped'],
  )
  const list = await explain(LIST)
  t.match(list.decision, { code: 'policy_blocked' })
  t.same(
    list.rules.map(({ outcome }) => outcome),
    ['skipped', 'blocks'],
  )
})

t.test('explains what needs no store, a currency without a rate, and a malformed amount', async t => {
  const policy = { dailySpendCapCents: 100, notBefore: '2090-01-01T00:00:00Z' }
  const withoutStore = await (await explainer({ dailySpendCapCents: 100 }))(WITHDRAWAL, dollars(1))
  t.match(withoutStore, {
    decision: { details: { rule: 'dailySpendCapCents' } },
    rules: [{ outcome: 'blocks', binds: true, cap: { used: undefined } }],
  })
  t.match(withoutStore.lines.join(' ').replace(/ +/g, ' '), /1.00 USD a day, which this server cannot count/)
  const spend = memorySpends()
  const explain = await explainer({ dailySpendCapCents: 100 }, { spend, rates: () => undefined })
  t.match((await explain(WITHDRAWAL, { amountCents: 1, currency: 'XAU' })).rules, [
    { rule: 'currency', outcome: 'blocks', binds: true },
    { rule: 'dailySpendCapCents', outcome: 'skipped', binds: false },
  ])
  const malformed = await explain(WITHDRAWAL, dollars(-1))
  t.match(malformed, { decision: { code: 'invalid_request' }, rules: [{ outcome: 'skipped', binds: false }] })
  const early = await (await explainer(policy, { spend }))(WITHDRAWAL, dollars(101))
  t.match(early.rules, [
    { rule: 'notBefore', outcome: 'blocks', binds: true },
    { rule: 'dailySpendCapCents', outcome: 'blocks', binds: false },
  ])
  t.match(early.lines.join('\n'), /notBefore \(binds\): A policy of this key allows nothing before\n +2090/)
})

t.test('lists the rules also for a session that is denied before its policies are checked', async t => {
  const { guard, clock } = await bench({ policies: async () => [{ maxAuthAmountCents: 5 }] })
  const holder = session(clock.now(), { policyIds: ['p'] })
  clock.advance(900_000)
  const late = await guard.explain(holder, FACTS, WITHDRAWAL, dollars(6))
  t.match(late, { decision: { code: 'session_expired' }, rules: [{ outcome: 'blocks', binds: false }] })
  const { rules, lines } = await guard.explain(session(clock.now()), FACTS, WITHDRAWAL, dollars(6))
  t.same([rules, lines], [[], ['Allowed.', 'No policy has a rule.']])
})

t.test('reads the counters and the rate once, and rejects if the store is down', async t => {
  const spend = memorySpends()
  const read: string[] = []
  const counting = {
    ...spend,
    usage: async (...given: Parameters<typeof spend.usage>) => {
      read.push('counters')
      return spend.usage(...given)
    },
  }
  const rates = (): number => {
    read.push('rate')
    return 2
  }
  const explain = await explainer({ dailySpendCapCents: 100 }, { spend: counting, rates })
  t.match((await explain(WITHDRAWAL, { amountCents: 50, currency: 'EUR' })).rules, [
    { rule: 'currency', outcome: 'passes' },
    { requested: 100, outcome: 'passes', binds: true },
  ])
  t.same(read, ['counters', 'rate'])
  const down = async (): Promise<never> => {
    throw new Error('down')
  }
  const broken = await explainer({ dailySpendCapCents: 100 }, { spend: { ...spend, usage: down } })
  await t.rejects(broken(WITHDRAWAL, dollars(1)), Fault)
})

t.test('gives policies one revision on every host, and another one when any of them changes', async t => {
  const revision = async (policies: Readonly<Record<string, unknown>>, ids = Object.keys(policies)) => {
    const { guard, clock } = await bench({ policies: async given => given.map(id => policies[id]) })
    const holder = session(clock.now(), { policyIds: ids })
    const access = await guard.authorize(holder, FACTS, LIST)
    const { policyRevision } = await guard.explain(holder, FACTS, LIST)
    t.equal(access.ok && access.value.evidence.policyRevision, policyRevision, 'the decision has it too')
    return policyRevision
  }
  const first = { maxAuthAmountCents: 5, dailySpendCapCents: 9 }
  const known = await revision({ p: first, q: {} })
  t.match(known, /^[\w-]{22}$/)
  t.equal(await revision({ q: {}, p: { dailySpendCapCents: 9, maxAuthAmountCents: 5 } }), known)
  t.equal(await revision({ p: first, q: {} }, ['q', 'p', 'q']), known)
  for (const other of [
    { p: { ...first, dailySpendCapCents: 8 }, q: {} },
    { p: first },
    { p: first, r: {} },
    {},
  ])
    t.not(await revision(other), known)
})
