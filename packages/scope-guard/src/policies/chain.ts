import type { Rule, EpochMs } from '@gatewright/kernel'
import { compileCaps, type CountedCap, type OperationCaps } from './caps.ts'
import { compilePayees, type PayeeLists } from './payees.ts'
import type { StoredPolicy } from './policy.ts'
import { compilePredicates, type Block, type CallFacts, type PredicateResult } from './predicates.ts'
import { policyRevision } from './policy-revision.ts'

/** The compiled policies of one session. Every policy must allow a call, and a spend counts against every policy. */
export interface Chain {
  /** Returns the first rule that blocks a call, or undefined. Pure: the same facts give the same result. */
  block(facts: CallFacts): Block | undefined
  /** Returns what every rule that needs no amount decides. The first one that blocks is the result of `block`. */
  results(facts: CallFacts): readonly PredicateResult[]
  /** Decides about the payee of a spend. */
  readonly payees: PayeeLists
  /** Whether any policy counts calls, so that an operation that moves no money may need a counter. */
  readonly countsCalls: boolean
  /** Returns the caps that apply to any of these operations, each cap once. */
  caps(operations: readonly string[], kind: Rule['spends']): OperationCaps
  /** Lists every cap, with its counter at an instant. */
  allCaps(now: EpochMs): readonly CountedCap[]
  /** Identifies the ids and the content of the policies, in whatever order: `policyRevision`. */
  readonly revision: string
}

/**
 * Compiles the policies of a session. Policies are sorted by id and each id counts once, so that neither the decision
 * nor the named rule depends on their order.
 */
export function compileChain(chain: readonly StoredPolicy[]): Chain {
  const byId = new Map(chain.map(stored => [stored.id, stored]))
  const policies = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const countsCalls = policies.some(({ policy }) =>
    policy.limits?.some(limit => limit.maxCount !== undefined),
  )
  const caps = compileCaps(policies)
  const { block, results } = compilePredicates(policies)
  return {
    block,
    results,
    payees: compilePayees(policies),
    countsCalls,
    caps: caps.select,
    allCaps: caps.list,
    revision: policyRevision(policies),
  }
}
