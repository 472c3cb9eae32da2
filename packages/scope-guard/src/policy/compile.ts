import { compileCaps, type CapPlan, type SpendKind } from './caps.ts'
import { compileGates, type Block, type CallFacts } from './gates.ts'
import type { StoredPolicy } from './policy.ts'

/** A compiled chain: the policies of one session. All of them must allow, and a spend counts against all. */
export interface Chain {
  /** The first reason to block a call, or undefined. Pure: the same facts give the same answer. */
  block(facts: CallFacts): Block | undefined
  /** Whether any policy counts calls, so that operations that move no money may need a counter. */
  readonly countsCalls: boolean
  /** The caps that bind a call which counts as these operations: each cap that applies to any of them, once. */
  caps(operations: readonly string[], kind: SpendKind): CapPlan
}

/**
 * Compiles a chain once per session. Policies are sorted by id and each id counts once, so that neither the
 * decision nor the named rule depends on the order of the chain.
 */
export function compileChain(chain: readonly StoredPolicy[]): Chain {
  const byId = new Map(chain.map(stored => [stored.id, stored]))
  const policies = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const countsCalls = policies.some(({ policy }) =>
    policy.limits?.some(limit => limit.maxCount !== undefined),
  )
  return { block: compileGates(policies), countsCalls, caps: compileCaps(policies) }
}
