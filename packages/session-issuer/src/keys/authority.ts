import { missingScopes, type EpochMs, type Session } from '@gatewright/kernel'
import { deny, type IssuerDenial } from '../codes.ts'
import { isLive } from './key.ts'
import type { ApiKey, KeyRecord } from '../storage/port.ts'

/** Who asks: a key presented as such, a session, or the operator, whom nothing here limits. */
export type Caller = ApiKey | Session | 'operator'

/** What a caller stands on at the moment of the decision. */
export interface Standing {
  /** The caller's key as it is now. */
  readonly key: KeyRecord
  /** What the caller holds: a session may hold less than its key. */
  readonly scopes: readonly string[]
  readonly policyIds: readonly string[]
  readonly bySession: boolean
}

/** Where a key stands, seen from a caller. The keys of one lineage are one place. */
export type Relation = 'own' | 'below' | 'above' | 'other'

/** Whether a caller is a session. */
export function isSession(caller: ApiKey | Session): caller is Session {
  return 'sessionId' in caller
}

/** The caller's standing; undefined when its key has ended or changed since it was presented. */
export function standingOf(
  caller: ApiKey | Session,
  keys: readonly KeyRecord[],
  now: EpochMs,
): Standing | undefined {
  const bySession = isSession(caller)
  const [id, version] = bySession ? [caller.keyId, caller.keyVersion] : [caller.id, caller.version]
  const key = keys.find(one => one.id === id)
  if (!key || key.version !== version || !isLive(key, now)) return undefined
  return { key, bySession, scopes: caller.scopes, policyIds: caller.policyIds }
}

/** Where a key of the same account stands, seen from the caller. */
export function relationOf(target: ApiKey, { key }: Standing): Relation {
  if (target.lineageId === key.lineageId) return 'own'
  if (target.ancestry.includes(key.lineageId)) return 'below'
  return key.ancestry.includes(target.lineageId) ? 'above' : 'other'
}

/** A key from bootstrap stands at the root of its chain and oversees its account. */
export function isRoot(key: ApiKey): boolean {
  return key.ancestry.length === 0
}

/** Whether a caller may list a key: a root all of its account, any other what is its own or below. */
export function sees(standing: Standing, target: ApiKey): boolean {
  const relation = relationOf(target, standing)
  return isRoot(standing.key) || relation === 'own' || relation === 'below'
}

/** The policies that bind the caller and not this chain: a session may be narrower than its key. */
export function policiesBeyond(standing: Standing, chain: readonly string[]): string[] {
  return standing.policyIds.filter(id => !chain.includes(id))
}

/** Refuses scopes that the caller does not hold itself, naming them. */
export function scopesWithin(wanted: readonly string[], held: readonly string[]): IssuerDenial | undefined {
  const scope = missingScopes(wanted, held)
  if (scope.length === 0) return undefined
  return deny('insufficient_scope', `not held: ${scope.join(' ')}`, { details: { scope } })
}

/** The credential was good when it was presented and is not any more. */
export const stale: IssuerDenial = deny('unauthorized', 'the credential is not valid', {
  reason: 'its key has changed or ended',
})

/** The key is known to the caller and beyond its authority. */
export const beyond: IssuerDenial = deny('policy_blocked', 'the key is not below the caller', {
  details: { rule: 'key_authority' },
})
