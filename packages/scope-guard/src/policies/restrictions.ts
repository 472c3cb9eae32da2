import { counterOwner } from '@gatewright/kernel'
import type { ChainCaps } from './caps.ts'
import { operationMatcher } from './operation-matcher.ts'
import type { Policy, StoredPolicy } from './policy.ts'

/** One member of a policy that blocks or counts an operation, with how tightly it binds. */
export interface Restriction {
  readonly member: keyof Policy
  /** Restrictions with one name use one counter; without a counter they are of one owner of counters (`counterOwner`). */
  readonly name: string
  /** The smaller, the tighter. */
  readonly most: number
}

/**
 * Lists what binds an operation under policies: the caps on it, its dates, and whether it is blocked altogether. Of those with one
 * name the tightest. `allowedIps` and `allowCardSecrets` are left out: they depend on the client, and on what a response shows.
 */
export function restrictionsOn(
  policies: readonly StoredPolicy[],
  operation: string,
  capsOn: ReturnType<ChainCaps['on']>,
): ReadonlyMap<string, Restriction> {
  const caps = capsOn.map(({ rule, name, most }): Restriction => ({ member: rule, name, most }))
  const tightest = new Map<string, Restriction>()
  for (const restriction of [
    ...policies.flatMap(policy => predicateRestrictions(policy, operation)),
    ...caps,
  ]) {
    const known = tightest.get(restriction.name)
    if (!known || restriction.most < known.most) tightest.set(restriction.name, restriction)
  }
  return tightest
}

function predicateRestrictions({ id, policy }: StoredPolicy, operation: string): Restriction[] {
  const restrictions: Restriction[] = []
  // Lists that block the operation bind equally, whichever of the two does and whatever else it names.
  const add = (member: keyof Policy, kind: string, most: number): void => {
    restrictions.push({ member, name: JSON.stringify([counterOwner(id), kind]), most })
  }
  const { denyOperations, allowOperations, notBefore, notAfter } = policy
  if (denyOperations && operationMatcher(denyOperations)(operation)) add('denyOperations', 'operation', 0)
  if (allowOperations && !operationMatcher(allowOperations)(operation)) add('allowOperations', 'operation', 0)
  if (notBefore !== undefined) add('notBefore', 'notBefore', -Date.parse(notBefore))
  if (notAfter !== undefined) add('notAfter', 'notAfter', Date.parse(notAfter))
  return restrictions
}

/**
 * Finds a member of the reference that binds an operation and does not bind it as tightly under the other policies. Undefined: whatever the
 * other policies allow of the operation, the reference allows too, and both count it on the same counters.
 */
export function findLooserMember(
  restrictions: ReadonlyMap<string, Restriction>,
  reference: ReadonlyMap<string, Restriction>,
): keyof Policy | undefined {
  for (const { member, name, most } of reference.values()) {
    const bound = restrictions.get(name)
    if (!bound || bound.most > most) return member
  }
  return undefined
}
