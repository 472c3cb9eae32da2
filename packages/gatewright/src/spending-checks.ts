import type { Rule } from '@gatewright/kernel'
import { setBackgroundTimer } from '@gatewright/kernel/internal'
import type { Guard, Policy } from '@gatewright/scope-guard'
import type { SessionPolicies } from '@gatewright/scope-guard/internal'
import type { GatewrightOptions } from './options.ts'

/** How long a server may take to declare its operations, in ms. */
const DECLARED_WITHIN_MS = 10_000

/** How many operations a notice names. */
const MAX_NAMED = 10

/** Writes a text for the operator, once for each key. */
export type Notice = (key: string, text: string) => void

/** Writes a notice for money that nothing caps, for a cap or a list of payees that limits nothing, and for a policy about an operation that does not exist. */
export interface SpendingChecks {
  /** Notes the rule of a declared operation. Without any policy, an operation that spends is a notice. */
  declared(rule: Rule): void
  /** Compares policies with the operations that are declared by then. A cap or a list of payees that no operation can reach, and a name that none has, is a notice. */
  compare(policies: readonly unknown[]): void
  /** Compares the classes of rate limits with the operations that are declared by then. A class that no operation has is a notice. */
  compareLimits(classes: readonly string[]): void
}

/** Makes the checks of one server. */
export function spendingChecks(hasPolicies: boolean, notice: Notice): SpendingChecks {
  const kinds = new Set<Rule['spends']>()
  const operations = new Set<string>()
  const limited = new Set<string>()
  return {
    declared({ operation, spends, limit }) {
      operations.add(operation)
      if (limit !== undefined) limited.add(limit)
      if (spends === undefined) return
      kinds.add(spends)
      if (!hasPolicies)
        notice(
          'policy',
          `${operation} spends, and there is no policy, so nothing is capped: give gatewright policy: { dailySpendCapCents: 10_000 } or policies, or say policy: 'none'`,
        )
    },
    compareLimits(classes) {
      for (const name of classes)
        if (!limited.has(name))
          notice(
            `class ${name}`,
            `a rate limit is for the class ${name}, and no operation has it, so it limits nothing: give the operation limit: '${name}', or leave classes out`,
          )
    },
    compare(policies) {
      for (const name of policies.flatMap(operationsOf)) {
        if (isDeclared(name, operations)) continue
        notice(
          name,
          `a policy names ${name}, and no operation of this server has that id, so the policy does nothing for it: declared are ${[...operations].slice(0, MAX_NAMED).join(', ')}`,
        )
      }
      for (const rule of policies.flatMap(moneyRulesOf)) {
        const option = rule === 'dailyWithdrawalCapCents' ? 'withdraws' : 'spends'
        if (option === 'spends' ? kinds.size > 0 : kinds.has('withdrawal')) continue
        const amount = /payees$/i.test(rule)
          ? '{ amountCents, currency, payee }'
          : '{ amountCents, currency }'
        notice(
          rule,
          `the policy has ${rule}, and no write ${option}, so it limits nothing: give the write that moves the money ${option}: body => (${amount}), or leave ${rule} out`,
        )
      }
    },
  }
}

/** Returns a guard that also notes the rule of every operation. A team may declare operations by `gw.gate`, which has this guard. */
export function notingRules(guard: Guard, { declared }: SpendingChecks): Guard {
  return {
    ...guard,
    prepare(rule) {
      guard.prepare(rule)
      declared(rule)
    },
  }
}

/** Compares the one policy for every account, and the classes of limits, 10 s after the start, because a server may get no request. */
export function compareAfterStart(
  { policy, limits = [] }: Pick<GatewrightOptions, 'policy' | 'limits'>,
  { compare, compareLimits }: SpendingChecks,
): void {
  const classes = limits.flatMap(limit => limit.classes ?? [])
  if (policy === undefined && classes.length === 0) return
  afterStart(() => {
    if (policy !== undefined) compare([policy])
    compareLimits(classes)
  })
}

/** Returns the source of policies, which compares the first that it gives: operations are declared before the first request. */
export function comparingFirst(source: SessionPolicies, { compare }: SpendingChecks): SessionPolicies {
  let isCompared = false
  return session => {
    if (isCompared) return source(session)
    isCompared = true
    const given = source(session)
    // A source that fails, or gives something else, is the guard's to report.
    void Promise.resolve(given).then(
      policies => Array.isArray(policies) && compare(policies.map(each => each?.document)),
      () => undefined,
    )
    return given
  }
}

/** The members of a policy that cap money, or say who may get it. */
function moneyRulesOf(policy: unknown): readonly string[] {
  const { limits, ...members } = (policy ?? {}) as Policy
  const rules = [
    'maxAuthAmountCents',
    'dailySpendCapCents',
    'dailyWithdrawalCapCents',
    'approveAboveCents',
    'payees',
    'denyPayees',
  ] as const
  const named: string[] = rules.filter(name => members[name] !== undefined)
  const capsMoney =
    Array.isArray(limits) && limits.some((limit: unknown) => Object(limit).maxCents !== undefined)
  return capsMoney ? [...named, 'limits[].maxCents'] : named
}

/** The operations that a policy names, by their ids or as `tag.*`. */
function operationsOf(policy: unknown): readonly string[] {
  const { limits, denyOperations, allowOperations } = (policy ?? {}) as Policy
  const named = Array.isArray(limits) ? limits.map((limit: unknown) => Object(limit).operations) : []
  return [denyOperations, allowOperations, ...named].flat().filter(name => typeof name === 'string')
}

const isDeclared = (name: string, operations: ReadonlySet<string>): boolean =>
  name.endsWith('.*')
    ? [...operations].some(each => each.startsWith(name.slice(0, -1)))
    : operations.has(name)

/** Calls a function when operations have been declared. Where timers exist in requests only, the first session must do. */
function afterStart(run: () => void): void {
  try {
    setBackgroundTimer(run, DECLARED_WITHIN_MS)
  } catch {}
}
