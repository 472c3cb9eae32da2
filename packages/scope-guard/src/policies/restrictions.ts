import type { Rule } from '@gatewright/kernel'
import { counterOwner, checkedRule, parseInstant } from '@gatewright/kernel/internal'
import { isFor, listCaps } from './caps.ts'
import { storedPolicy, type PolicyDocument } from './chain-loader.ts'
import { operationMatcher } from './operation-matcher.ts'
import type { PolicyRule, StoredPolicy } from './policy.ts'

/** One member of a policy that blocks or counts an operation, with its bound. */
interface Restriction {
  readonly member: PolicyRule
  /**
   * Restrictions with the same name use the same counter. Those without a counter have the same owner of counters
   * (`counterOwner`).
   */
  readonly name: string
  /** The bound: a smaller one is stricter. */
  readonly most: number
}

/**
 * Finds a member of the reference policies that blocks or counts an operation and that the other policies lack, by the owner of
 * its counters (`counterOwner`), or have looser. Undefined: at any instant, the reference allows every call of the operation
 * that the policies allow, and both count it on the same counters. Use it before a caller gets something that other policies
 * bind, such as the number of a card. `allowedIps` and `allowCardSecrets` are not compared: they do not apply to later
 * operations that the caller's client does not request. No I/O. Throws a `TypeError` for a wrong rule. Fault: `ERR_STORE_REPLY`
 * for a document that is not a policy.
 */
export function findLooserMember(
  policies: readonly PolicyDocument[],
  reference: readonly PolicyDocument[],
  rule: Rule,
): PolicyRule | undefined {
  checkedRule(rule)
  const restrictions = restrictionsOn(policies.map(storedPolicy), rule)
  for (const { member, name, most } of restrictionsOn(reference.map(storedPolicy), rule).values()) {
    const known = restrictions.get(name)
    if (!known || known.most > most) return member
  }
  return undefined
}

/**
 * Lists the restrictions of policies on an operation: caps, dates, and whether it is blocked altogether. Of several with the
 * same name it keeps the strictest.
 */
function restrictionsOn(policies: readonly StoredPolicy[], rule: Rule): ReadonlyMap<string, Restriction> {
  const { operation, spends } = rule
  const caps = listCaps(policies)
    .filter(cap => isFor(cap, spends) && (!cap.operations || operationMatcher(cap.operations)(operation)))
    .map(({ rule, name, most }): Restriction => ({ member: rule, name, most }))
  const tightest = new Map<string, Restriction>()
  for (const restriction of [...policies.flatMap(policy => predicateRestrictions(policy, rule)), ...caps]) {
    const known = tightest.get(restriction.name)
    if (!known || restriction.most < known.most) tightest.set(restriction.name, restriction)
  }
  return tightest
}

function predicateRestrictions({ id, policy }: StoredPolicy, { operation, spends }: Rule): Restriction[] {
  const restrictions: Restriction[] = []
  // `denyOperations` and `allowOperations` are equal restrictions if both block the operation, whatever else they name.
  const add = (member: PolicyRule, kind: string, most: number): void => {
    restrictions.push({ member, name: JSON.stringify([counterOwner(id), kind]), most })
  }
  const { denyOperations, allowOperations, notBefore, notAfter } = policy
  if (denyOperations && operationMatcher(denyOperations)(operation)) add('denyOperations', 'operation', 0)
  if (allowOperations && !operationMatcher(allowOperations)(operation)) add('allowOperations', 'operation', 0)
  for (const member of ['denyPayees', 'payees'] as const) {
    const listed = policy[member]
    // Lists are equal restrictions if they have the same names. A wider list and a narrower one are not compared.
    if (listed && spends !== undefined)
      add(member, JSON.stringify([member, ...[...new Set(listed)].sort()]), 0)
  }
  const [from, until] = [parseInstant(notBefore), parseInstant(notAfter)]
  if (from !== undefined) add('notBefore', 'notBefore', -from)
  if (until !== undefined) add('notAfter', 'notAfter', until)
  return restrictions
}
