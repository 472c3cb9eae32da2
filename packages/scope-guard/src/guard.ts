import { checkRule, type Rule } from '@gatewright/kernel'
import { permitsAmount } from './amount.ts'
import { createAuthenticate } from './authenticate.ts'
import { challenges as challengesOf } from './challenge.ts'
import { authenticateSession, authorizeSession, checkRequest, type GuardParts } from './check.ts'
import { createLimits, type RuleLimits } from './limits/limits.ts'
import type { LimitOptions } from './limits/options.ts'
import { checkedOptions, type GuardOptions } from './options.ts'
import { chainLoader } from './policy/chain.ts'
import { createRevocation } from './revocation/revocation.ts'
import { simulate } from './simulate.ts'
import { releaseSpend, reserveSpend, settleSpend } from './spend.ts'
import type { Guard } from './verbs.ts'

/** Makes a guard. Throws a `TypeError` for a wrong option. */
export function createGuard(options: GuardOptions): Guard {
  const parts = partsOf(options)
  const { revocation, spending } = parts
  return {
    check: (facts, rule) => checkRequest(parts, facts, rule),
    authenticate: facts => authenticateSession(parts, facts),
    authorize: (session, facts, rule) => authorizeSession(parts, session, facts, rule),
    prepare: rule => void parts.prepare(rule),
    reserve: (access, spend, storage = spending.storage) =>
      reserveSpend(access, spend, { ...spending, storage }),
    permits: (access, amount) => permitsAmount(access, amount, spending.rates),
    settle: (hold, actual, storage = spending.storage) => settleSpend(hold, { ...spending, storage }, actual),
    release: (hold, storage = spending.storage) => releaseSpend(hold, { ...spending, storage }),
    simulate: (session, facts, rule, spend) => simulate(parts, { session, facts, rule, spend }),
    start: () => revocation.start(),
    stop: () => revocation.stop(),
  }
}

function partsOf(options: GuardOptions): GuardParts {
  const checked = checkedOptions(options)
  const { clock, rates, spend: storage, storeTimeoutMs: timeoutMs } = checked
  const challenges = challengesOf(checked.realm)
  const chainOf = chainLoader(checked.policies, timeoutMs)
  return {
    clock,
    challenges,
    authenticate: createAuthenticate(checked, challenges, chainOf),
    chainOf,
    revocation: createRevocation(checked.revocation, clock, timeoutMs),
    prepare: preparedRules(checked.limits),
    spending: { storage, rates, clock, timeoutMs },
  }
}

/** Checks each rule and finds its limits once, at its first use or at `prepare`. */
function preparedRules(limits: readonly LimitOptions[]): GuardParts['prepare'] {
  const limitsOf = createLimits(limits)
  const prepared = new WeakMap<Rule, RuleLimits>()
  return rule => {
    const known = prepared.get(rule)
    if (known) return known
    const made = limitsOf(checkRule(rule))
    prepared.set(rule, made)
    return made
  }
}
