import type { EpochMs } from '@gatewright/kernel'
import type { Policy, StoredPolicy } from './policy.ts'

/** What a policy can be asked about: one call of one operation, before any money. */
export interface PolicyFacts {
  readonly operation: string
  readonly now: EpochMs
}

/** Why a policy blocks: which member of which policy, and what the caller may know about it. */
export interface Block {
  readonly rule: string
  readonly policyId: string
  readonly [fact: string]: unknown
}

/** A compiled chain: the policies of one session, root to leaf. All of them must allow. */
export interface Chain {
  readonly ids: readonly string[]
  /** The first reason to block, or undefined. The reason does not depend on the order of the chain. */
  block(facts: PolicyFacts): Block | undefined
  readonly policies: readonly StoredPolicy[]
}

/** A test compiled from one member of one policy. */
type Test = (facts: PolicyFacts) => Block | undefined

/** Whether an operation is in a list of ids and `tag.*` patterns, compiled once. */
export function operationMatcher(patterns: readonly string[]): (operation: string) => boolean {
  const exact = new Set(patterns.filter(pattern => !pattern.endsWith('.*')))
  const prefixes = patterns.filter(pattern => pattern.endsWith('.*')).map(pattern => pattern.slice(0, -1))
  return operation => exact.has(operation) || prefixes.some(prefix => operation.startsWith(prefix))
}

function tests(id: string, policy: Policy): [rank: number, Test][] {
  const made: [number, Test][] = []
  const add = (
    rank: number,
    rule: keyof Policy,
    blocks: (facts: PolicyFacts) => boolean,
    extra = {},
  ): void => {
    const block = Object.freeze({ rule, policyId: id, ...extra })
    made.push([rank, facts => (blocks(facts) ? block : undefined)])
  }
  const { denyOperations, allowOperations, notBefore, notAfter } = policy
  if (denyOperations) {
    const denied = operationMatcher(denyOperations)
    add(0, 'denyOperations', facts => denied(facts.operation))
  }
  if (allowOperations) {
    const allowed = operationMatcher(allowOperations)
    add(1, 'allowOperations', facts => !allowed(facts.operation))
  }
  if (notBefore !== undefined) {
    const from = Date.parse(notBefore)
    add(2, 'notBefore', facts => facts.now < from, { notBefore })
  }
  if (notAfter !== undefined) {
    const until = Date.parse(notAfter)
    add(3, 'notAfter', facts => facts.now >= until, { notAfter })
  }
  return made
}

/**
 * Compiles a chain once per session. Tests run in a fixed order (by member, then by policy id), so neither the
 * decision nor the named rule depends on the order of the chain.
 */
export function compileChain(chain: readonly StoredPolicy[]): Chain {
  const policies = [...chain].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  const run = policies
    .flatMap(({ id, policy }) => tests(id, policy))
    .sort(([a], [b]) => a - b)
    .map(([, test]) => test)
  return {
    ids: chain.map(({ id }) => id),
    policies,
    block(facts) {
      for (const test of run) {
        const block = test(facts)
        if (block) return block
      }
      return undefined
    },
  }
}
