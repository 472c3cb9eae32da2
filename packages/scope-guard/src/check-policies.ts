import { allow, type Rule, type Verdict } from '@gatewright/kernel'
import { blocked, type SpendAccess } from './access.ts'
import type { GuardDependencies } from './check.ts'
import type { SpendDenial } from './codes.ts'
import type { PolicyDocument } from './policies/chain-loader.ts'

/** Implements `Guard.checkPolicies`. */
export function checkPolicies(
  { chains, clock, prepare }: GuardDependencies,
  accountId: string,
  policies: readonly PolicyDocument[],
  rule: Rule,
): Verdict<SpendAccess, SpendDenial> {
  prepare(rule)
  const chain = chains.compile(policies.map(withoutAddresses))
  const { operation, cardSecrets = false } = rule
  const block = chain.block({ operation, now: clock.now(), address: undefined, cardSecrets })
  return block ? blocked(block) : allow({ session: { accountId }, rule, chain })
}

/** Removes `allowedIps`: the caller that causes the operation is not the client whose addresses the policy lists. */
function withoutAddresses({ id, document }: PolicyDocument): PolicyDocument {
  // An array is not a policy. Its copy would be an object without members, which forbids nothing.
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return { id, document }
  const { allowedIps: _allowedIps, ...others } = document as Record<string, unknown>
  return { id, document: others }
}
