import type { Session, EpochMs } from '@gatewright/kernel'
import { missingScopes } from '@gatewright/kernel/internal'
import { deny, type IssuerDenial } from '../codes.ts'
import { isLive } from '../key.ts'
import type { ApiKey, KeyRecord } from '../storage/port.ts'

/** The caller: a key that was presented directly, a session, or the operator, who may do everything. */
export type IssuerCaller = ApiKey | Session | 'operator'

/** The wallet of an account that has just signed. It may get every right of the account's user keys. */
export interface WalletCaller {
  /** The account whose wallet signed. */
  readonly walletOf: string
}

/** A caller whose key is live and unchanged, with the caller's current rights. */
export interface ActiveCaller {
  /** The caller's key as it is stored now. */
  readonly key: KeyRecord
  /** The scopes of the caller: a session may hold fewer than its key. */
  readonly scopes: readonly string[]
  readonly policyIds: readonly string[]
  readonly bySession: boolean
}

/** The place of a key in the chain, relative to a caller. All keys of one lineage have the same place. */
export type Relation = 'own' | 'below' | 'above' | 'other'

/** Whether a caller is a session. */
export function isSession(caller: ApiKey | Session): caller is Session {
  return 'sessionId' in caller
}

/** Finds the caller's key; undefined when the key has ended or changed since it was presented. */
export function findActiveCaller(
  caller: ApiKey | Session,
  keys: readonly KeyRecord[],
  now: EpochMs,
): ActiveCaller | undefined {
  const bySession = isSession(caller)
  const [id, version] = bySession ? [caller.keyId, caller.keyVersion] : [caller.id, caller.version]
  const key = keys.find(one => one.id === id)
  if (!key || key.version !== version || !isLive(key, now)) return undefined
  return { key, bySession, scopes: caller.scopes, policyIds: caller.policyIds }
}

/** Returns the place of a key of the same account in the chain, relative to the caller. */
export function relationOf(target: ApiKey, { key }: ActiveCaller): Relation {
  if (target.lineageId === key.lineageId) return 'own'
  if (target.ancestry.includes(key.lineageId)) return 'below'
  return key.ancestry.includes(target.lineageId) ? 'above' : 'other'
}

/** Whether a key is a root: it has no parent, and may see and revoke every key of its account. */
export function isRoot(key: ApiKey): boolean {
  return key.ancestry.length === 0
}

/**
 * Whether a caller may list a key: a root lists all keys of its account, any other caller its own key and those below.
 */
export function canList(active: ActiveCaller, target: ApiKey): boolean {
  const relation = relationOf(target, active)
  return isRoot(active.key) || relation === 'own' || relation === 'below'
}

/** Returns the policies that bind the caller and are not in a chain: a session may have more policies than its key. */
export function policiesMissingFrom(active: ActiveCaller, chain: readonly string[]): string[] {
  return active.policyIds.filter(id => !chain.includes(id))
}

/** Denies scopes that the caller does not hold, and names them. */
export function denyMissingScopes(
  wanted: readonly string[],
  held: readonly string[],
): IssuerDenial | undefined {
  const scope = missingScopes(wanted, held)
  if (scope.length === 0) return undefined
  return deny('insufficient_scope', `not held: ${scope.join(' ')}`, { details: { scope } })
}

/** The denial for a credential that was valid when it was presented and has ended since. */
export const staleCredential: IssuerDenial = deny('unauthorized', 'the credential is not valid', {
  reason: 'its key has changed or ended',
})

/** The denial for a console that creates something: that would outlive the console, or have more rights. */
export const consoleMakesNoKeys: IssuerDenial = deny(
  'policy_blocked',
  'a console creates no keys: let the wallet sign',
  { details: { rule: 'key_authority' } },
)

/** The denial for a caller that may see a key but not change or rotate it. */
export const outsideAuthority: IssuerDenial = deny(
  'policy_blocked',
  'the caller may not change or rotate this key',
  { details: { rule: 'key_authority' } },
)
