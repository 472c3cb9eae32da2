import { withChain, type GuardDependencies } from '../check.ts'
import type { GuardDenial, SpendDenial } from '../codes.ts'
import type { OperationCaps } from '../policies/caps.ts'
import type { PredicateResult } from '../policies/predicates.ts'
import { decideWithoutEffect, type Simulation } from '../simulate.ts'
import { centsOf, malformedAmount, operationsOf, type RateSource } from '../spend/amount.ts'
import { capState, readCapUsage, type CapUsage } from '../spend/cap-states.ts'
import type { SpendDependencies } from '../spend/plan.ts'
import type { Counter, SpendStorage } from '../storage/port.ts'
import type { ExplainedRule, Explanation } from './explanation.ts'
import { explanationLines } from './lines.ts'

/** Implements `Guard.explain`. */
export async function explain(dependencies: GuardDependencies, call: Simulation): Promise<Explanation> {
  dependencies.prepare(call.rule)
  const verified = await withChain(dependencies, call.session)
  const { chain } = verified
  const now = dependencies.clock.now()
  const spending = { ...dependencies.spending, clock: { now: () => now } }
  const usages = await readCapUsage(chain, call.session, spending)
  const rates = readOnce(spending.rates)
  const decision = await decideWithoutEffect(
    {
      ...dependencies,
      clock: spending.clock,
      spending: { ...spending, rates, storage: withUsage(spending, usages) },
    },
    verified,
    call,
  )
  const { operation, cardSecrets = false } = call.rule
  const results = [
    ...chain.results({ operation, now, address: call.facts.address, cardSecrets }),
    ...(call.spend && !malformedAmount(call.spend) ? chain.payees.results(call.spend.payee) : []),
  ]
  const caps = chain.caps(call.spend ? operationsOf(call.rule, call.spend) : [operation], call.rule.spends)
  const cents = await requestedCents(call, caps, rates)
  const rules = markBinding(
    [
      ...results.map(explainResult),
      ...explainCurrency(caps, cents),
      ...explainCaps(caps, usages, call, cents),
    ],
    decision,
  )
  return {
    decision,
    policyRevision: chain.revision,
    rules,
    lines: explanationLines(decision, rules, results),
  }
}

type Unmarked = Omit<ExplainedRule, 'binds'>

function explainResult({ block: { rule, policyId }, blocks }: PredicateResult): Unmarked {
  return { policyId, rule, outcome: blocks ? 'blocks' : 'passes', cap: undefined, requested: undefined }
}

/** The US cents of a call, where money caps apply to a well-formed amount. `unknown`: there is no rate for its currency. */
type RequestedCents = { readonly cents: number | 'unknown'; readonly isConverted: boolean } | undefined

async function requestedCents(
  { spend }: Simulation,
  caps: OperationCaps,
  rates: RateSource,
): Promise<RequestedCents> {
  if (!spend || malformedAmount(spend)) return undefined
  if (!caps.money) return { cents: 0, isConverted: false }
  const cents = (await centsOf(spend, rates)) ?? 'unknown'
  // An amount that is too large to be converted is malformed.
  if (cents !== 'unknown' && !Number.isSafeInteger(cents)) return undefined
  return { cents, isConverted: spend.currency !== 'USD' }
}

function explainCurrency({ money }: OperationCaps, requested: RequestedCents): Unmarked[] {
  if (!money || !requested?.isConverted) return []
  const outcome = requested.cents === 'unknown' ? 'blocks' : 'passes'
  return [{ policyId: money.policyId, rule: 'currency', outcome, cap: undefined, requested: undefined }]
}

function explainCaps(
  caps: OperationCaps,
  usages: readonly CapUsage[],
  { rule: { spends }, spend }: Simulation,
  requestedMoney: RequestedCents,
): Unmarked[] {
  // Without an amount, only a call that moves no money is counted.
  const isCounted = spend ? requestedMoney !== undefined : spends === undefined
  const cents = requestedMoney?.cents ?? 0
  return usages.map(usage => {
    const cap = capState(usage)
    const { policyId, rule, unit } = cap
    const requested = unit === 'count' ? 1 : cents
    if (!caps.has(usage.cap.name) || !isCounted || requested === 'unknown')
      return { policyId, rule, outcome: 'skipped', cap, requested: undefined }
    const passes = cap.used !== undefined && cap.used + requested <= cap.cap
    return { policyId, rule, outcome: passes ? 'passes' : 'blocks', cap, requested }
  })
}

function markBinding(rules: readonly Unmarked[], decision: Explanation['decision']): ExplainedRule[] {
  const binding = new Set(decision.ok ? closestCaps(rules) : rules.filter(isNamedBy(decision)).slice(0, 1))
  return rules.map(rule => ({ ...rule, binds: binding.has(rule) }))
}

/** Selects, of the applied caps of each unit, the first with the least left. */
function closestCaps(rules: readonly Unmarked[]): Unmarked[] {
  return (['cents', 'count'] as const).flatMap(unit => {
    const applied = rules.filter(({ cap, outcome }) => cap?.unit === unit && outcome === 'passes')
    const least = Math.min(...applied.map(({ cap }) => cap?.remaining ?? Infinity))
    return applied.filter(({ cap }) => cap?.remaining === least).slice(0, 1)
  })
}

/** Whether a rule is the one that a denial names. Rules are listed in the order in which they are checked, within one window. */
const isNamedBy =
  ({ details }: GuardDenial | SpendDenial) =>
  ({ outcome, rule, policyId, cap }: Unmarked): boolean =>
    outcome === 'blocks' &&
    details?.['rule'] === rule &&
    details['policyId'] === policyId &&
    details['window'] === cap?.window

const counterName = (counter: Counter): string => (typeof counter === 'string' ? counter : counter.counter)

/** A store whose counters stay as they were read. */
function withUsage({ storage }: SpendDependencies, usages: readonly CapUsage[]): SpendStorage | undefined {
  if (!storage) return undefined
  const known = new Map(usages.map(({ cap: { counter = '' }, usage }) => [counterName(counter), usage]))
  return {
    ...storage,
    usage: async (_accountId, counters) =>
      counters.map(counter => {
        const usage = known.get(counterName(counter))
        if (!usage) throw new Error(`the counter ${counterName(counter)} was not read`)
        return usage
      }),
  }
}

/** A rate source that is read at most once, so that the decision and its explanation use one rate. */
function readOnce(rates: RateSource): RateSource {
  let known: Promise<number | undefined> | undefined
  return currency => (known ??= (async () => rates(currency))())
}
