import type { EpochMs } from '@gatewright/kernel'
import { addressMatcher } from '@gatewright/kernel/address'
import type { GuardRule } from '../codes.ts'
import { operationMatcher } from './operations.ts'
import type { Policy, StoredPolicy } from './policy.ts'

/** What a policy is asked about a call, before any money. */
export interface CallFacts {
  readonly operation: string
  readonly now: EpochMs
  readonly address: string | undefined
  /** Whether the answer reveals card secrets. */
  readonly cardSecrets: boolean
}

/** Why a policy blocks: which member of which policy, and what the caller may know about it. */
export interface Block {
  readonly rule: GuardRule
  readonly policyId: string
  readonly [fact: string]: unknown
}

/** One member of one policy, compiled. */
interface Gate {
  readonly block: Block
  /** Whether it looks at the operation only, so that its answer to one operation never changes. */
  readonly fixed: boolean
  shut(facts: CallFacts): boolean
}

/** The members that look at the operation only. */
const FIXED: readonly (keyof Policy)[] = ['denyOperations', 'allowOperations']

/** How each member decides, in the order in which they are asked and named: fixed ones first. */
const GATES: readonly (readonly [
  keyof Policy,
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
      const from = Date.parse(notBefore)
      return facts => facts.now < from
    },
  ],
  [
    'notAfter',
    ({ notAfter }) => {
      if (notAfter === undefined) return undefined
      const until = Date.parse(notAfter)
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

/** What a blocked caller may know beside the rule: when it opens or shut. */
function shown(member: keyof Policy, policy: Policy): Record<string, unknown> {
  return member === 'notBefore' || member === 'notAfter' ? { [member]: policy[member] } : {}
}

/**
 * Compiles the gates of a chain to one function: the first reason to block, or undefined. Gates are asked member
 * by member and, within one, in the given order of policies; sort those for an answer that no order changes.
 */
export function compileGates(policies: readonly StoredPolicy[]): (facts: CallFacts) => Block | undefined {
  const all: Gate[] = GATES.flatMap(([member, compile]) =>
    policies.flatMap(({ id, policy }) => {
      const shut = compile(policy)
      if (!shut) return []
      const block = Object.freeze({ rule: member, policyId: id, ...shown(member, policy) })
      return [{ block, fixed: FIXED.includes(member), shut }]
    }),
  )
  const open = all.filter(({ fixed }) => !fixed)
  /** What blocks an operation whatever the call. There are as many operations as rules. */
  const always = new Map<string, Block | null>()
  const decideOnce = (facts: CallFacts): Block | null => {
    const block = all.find(gate => gate.fixed && gate.shut(facts))?.block ?? null
    always.set(facts.operation, block)
    return block
  }
  return facts => {
    let block = always.get(facts.operation)
    if (block === undefined) block = decideOnce(facts)
    if (block) return block
    return open.find(gate => gate.shut(facts))?.block
  }
}
