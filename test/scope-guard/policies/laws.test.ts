import type { Session } from '@gatewright/kernel'
import type { Guard, Policy } from '@gatewright/scope-guard'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { call, calls, chain, policy, ruleOf, type Step } from './arbitrary.ts'
import { compareDecisions } from './compare-decisions.ts'
import { decide, factsOf, spendOf, world } from './steps.ts'

type Chain = Record<string, Policy>

async function simulate(guard: Guard, holder: Session, step: Step): Promise<unknown> {
  const spend = step.kind ? spendOf(step) : undefined
  const verdict = await guard.simulate(holder, factsOf(step), ruleOf(step), spend)
  return verdict.ok || verdict.details
}

/** Runs steps through a world and returns every decision. */
async function play(policies: Chain, ids: readonly string[], steps: readonly Step[]): Promise<unknown[]> {
  const { clock, guard, over } = world(policies)
  const decisions: unknown[] = []
  for (const step of steps) {
    clock.advance(step.step)
    decisions.push(await decide(guard, over(ids), step))
  }
  return decisions
}

t.test('decides as the naive interpreter does, call after call', async t => {
  const { allowed, denied } = await compareDecisions(randomCases(700))
  t.ok(allowed > 0 && denied > 0, `both cases occurred: ${allowed} allowed, ${denied} denied`)
})

t.test(
  'simulate returns the later decision, with its rule and remaining amount, and changes nothing',
  async t => {
    await fc.assert(
      fc.asyncProperty(chain, calls, async (policies, steps) => {
        const { clock, guard, over } = world(policies)
        const holder = over(Object.keys(policies))
        for (const step of steps) {
          clock.advance(step.step)
          const first = await simulate(guard, holder, step)
          const second = await simulate(guard, holder, step)
          const decision = await decide(guard, holder, step)
          if (JSON.stringify(first) !== JSON.stringify(decision)) {
            throw new Error(`${JSON.stringify(first)} is not ${JSON.stringify(decision)}`)
          }
          if (JSON.stringify(first) !== JSON.stringify(second)) throw new Error('simulate left a trace')
        }
      }),
      { numRuns: randomCases(100) },
    )
    t.pass()
  },
)

t.test('does not depend on the order of the chain, of its lists or of its members', async t => {
  await fc.assert(
    fc.asyncProperty(chain, calls, fc.func(fc.integer()), async (policies, steps, weight) => {
      const shuffle = <T>(list: readonly T[]): T[] => [...list].sort((a, b) => weight(a) - weight(b))
      const turned = (one: Policy): Policy =>
        Object.fromEntries(
          shuffle(Object.entries(one)).map(([name, value]) => [
            name,
            Array.isArray(value) ? shuffle(value) : value,
          ]),
        )
      const other = Object.fromEntries(Object.entries(policies).map(([id, one]) => [id, turned(one)]))
      const ids = Object.keys(policies)
      const straight = await play(policies, ids, steps)
      const mixed = await play(other, shuffle([...ids, ids[0] as string]), steps)
      if (JSON.stringify(straight) !== JSON.stringify(mixed)) {
        throw new Error(`${JSON.stringify(straight)} is not ${JSON.stringify(mixed)}`)
      }
    }),
    { numRuns: randomCases(100) },
  )
  t.pass()
})

/** For one call from the same past: whatever the tighter world allows, the looser one allows. */
async function tightens(loose: Chain, tight: Chain, past: readonly Step[], step: Step): Promise<boolean> {
  const run = async (policies: Chain): Promise<boolean> => {
    const { clock, guard, over } = world({ ...policies, __past: {} })
    // The past is the same for both: every earlier call counted against the policies it names.
    for (const one of past) {
      clock.advance(one.step)
      await decide(guard, over(Object.keys(loose)), one)
    }
    clock.advance(step.step)
    return (await decide(guard, over(Object.keys(policies)), step)) === true
  }
  return !(await run(tight)) || run(loose)
}

t.test('a longer chain never allows more', async t => {
  await fc.assert(
    fc.asyncProperty(
      chain,
      policy,
      fc.array(call, { maxLength: 5 }),
      call,
      async (policies, added, past, step) => tightens(policies, { ...policies, added }, past, step),
    ),
    { numRuns: randomCases(100) },
  )
  t.pass()
})

t.test('adding a deny to any policy never allows more', async t => {
  await fc.assert(
    fc.asyncProperty(
      chain,
      fc.constantFrom('cards.*', 'withdrawals.create', 'deposits.*', 'cards.list'),
      fc.nat(),
      call,
      async (policies, pattern, pick, step) => {
        const ids = Object.keys(policies)
        const id = ids[pick % ids.length] as string
        const held = policies[id] as Policy
        const denied = { ...held, denyOperations: [...(held.denyOperations ?? []), pattern] }
        return tightens(policies, { ...policies, [id]: denied }, [], step)
      },
    ),
    { numRuns: randomCases(100) },
  )
  t.pass()
})

t.test('a shorter list of payees, or a longer one of denied payees, never allows more', async t => {
  const names = fc.subarray(['account:a', 'account:b', 'merchant:m', 'country:DE'])
  await fc.assert(
    fc.asyncProperty(policy, names, names, call, async (one, some, others, step) => {
      const { payees = [...some, ...others], denyPayees = [] } = one
      const loose = { ...one, payees, denyPayees }
      const fewer = payees.filter(name => some.includes(name))
      const tight = { ...one, payees: fewer, denyPayees: [...denyPayees, ...others] }
      return tightens({ p: loose }, { p: tight }, [], step)
    }),
    { numRuns: randomCases(100) },
  )
  t.pass()
})

t.test('lowering any cap never allows more', async t => {
  const caps = [
    'maxAuthAmountCents',
    'dailySpendCapCents',
    'dailyWithdrawalCapCents',
    'approveAboveCents',
  ] as const
  await fc.assert(
    fc.asyncProperty(policy, fc.constantFrom(...caps), fc.nat(200), call, async (one, cap, most, step) => {
      const lowered = { ...one, [cap]: Math.min(one[cap] ?? Infinity, most) }
      return tightens({ p: one }, { p: lowered }, [], step)
    }),
    { numRuns: randomCases(100) },
  )
  t.pass()
})
