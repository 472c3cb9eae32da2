import { parseInstant } from '@gatewright/kernel/internal'
import type { EpochMs } from '@gatewright/kernel'
import { addressMatcher } from '@gatewright/kernel/internal/address'
import type { GuardRule } from '../codes.ts'
import { operationMatcher } from './operation-matcher.ts'
import type { Policy, PolicyRule, StoredPolicy } from './policy.ts'

/** The facts of a call that policies check, apart from amounts. */
export interface CallFacts {
  readonly operation: string
  readonly now: EpochMs
  readonly address: string | undefined
  /** Whether the response reveals card secrets. */
  readonly cardSecrets: boolean
}

/** Why a policy blocks a call: the member and the policy, with the details that the caller may see. */
export interface Block {
  readonly rule: GuardRule
  readonly policyId: string
  readonly [fact: string]: unknown
}

/** One member of one policy, compiled. */
interface Predicate {
  readonly block: Block
  /** Whether it depends on the operation alone, so that its result for an operation never changes. */
  readonly operationOnly: boolean
  blocks(facts: CallFacts): boolean
}

/** What one member of one policy decides about a call. */
export interface PredicateResult {
  /** The block that the member reports if it blocks. */
  readonly block: Block
  readonly blocks: boolean
}

/** The members of policies that decide about a call without its amount, compiled. */
interface Predicates {
  /** Returns the first block, or undefined. */
  block(facts: CallFacts): Block | undefined
  /** Returns the result of every member, in the order in which `block` tests them. */
  results(facts: CallFacts): readonly PredicateResult[]
}

/** The members that depend on the operation alone. */
const OPERATION_ONLY: readonly PolicyRule[] = ['denyOperations', 'allowOperations']

/** How many operations' blocks one compiled chain caches. */
const MAX_REMEMBERED = 64

/** How each member decides, in the order in which blocks are reported: members that depend on the operation alone come first. */
const MEMBERS: readonly (readonly [
  PolicyRule,
  (policy: Policy) => ((facts: CallFacts) => boolean) | undefined,
])[] = [
  [
    'denyOperations',
    ({ denyOperations }) => {
      if (!denyOperations) return undefined
      const denied = operationMatcher(denyOperations)
      return facts => denied(facts.operation)
    },
  ],
  [
    'allowOperations',
    ({ allowOperations }) => {
      if (!allowOperations) return undefined
      const allowed = operationMatcher(allowOperations)
      return facts => !allowed(facts.operation)
    },
  ],
  [
    'notBefore',
    ({ notBefore }) => {
      if (notBefore === undefined) return undefined
      // A policy is checked when it is loaded. A text that is not a valid instant would block.
      const from = parseInstant(notBefore) ?? Infinity
      return facts => facts.now < from
    },
  ],
  [
    'notAfter',
    ({ notAfter }) => {
      if (notAfter === undefined) return undefined
      const until = parseInstant(notAfter) ?? -Infinity
      return facts => facts.now >= until
    },
  ],
  [
    'allowedIps',
    ({ allowedIps }) => {
      if (!allowedIps) return undefined
      const allowed = addressMatcher(allowedIps)
      return facts => !allowed(facts.address)
    },
  ],
  [
    'allowCardSecrets',
    policy => (policy.allowCardSecrets === false ? facts => facts.cardSecrets : undefined),
  ],
]

/** Returns the details that a blocked caller may see: when the validity period of the policy begins or ended. */
function visibleDetails(member: PolicyRule, policy: Policy): Record<string, unknown> {
  return member === 'notBefore' || member === 'notAfter' ? { [member]: policy[member] } : {}
}

/**
 * Compiles policies. They are tested member by member and, for one member, in the given order of policies. Sort the policies
 * for a result that does not depend on their order.
 */
export function compilePredicates(policies: readonly StoredPolicy[]): Predicates {
  const predicates: Predicate[] = MEMBERS.flatMap(([member, compile]) =>
    policies.flatMap(({ id, policy }) => {
      const blocks = compile(policy)
      if (!blocks) return []
      const block = Object.freeze({ rule: member, policyId: id, ...visibleDetails(member, policy) })
      return [{ block, operationOnly: OPERATION_ONLY.includes(member), blocks }]
    }),
  )
  const perCall = predicates.filter(({ operationOnly }) => !operationOnly)
  /**
   * The block that each operation always has; null if none. The map is cleared when it is full, so that a cached chain stays
   * small.
   */
  const byOperation = new Map<string, Block | null>()
  const blockOfOperation = (facts: CallFacts): Block | null => {
    const found = predicates.find(predicate => predicate.operationOnly && predicate.blocks(facts))
    const block = found?.block ?? null
    if (byOperation.size === MAX_REMEMBERED) byOperation.clear()
    byOperation.set(facts.operation, block)
    return block
  }
  return {
    block(facts) {
      let block = byOperation.get(facts.operation)
      if (block === undefined) block = blockOfOperation(facts)
      return block ?? perCall.find(predicate => predicate.blocks(facts))?.block
    },
    results: facts =>
      predicates.map(predicate => ({ block: predicate.block, blocks: predicate.blocks(facts) })),
  }
}
