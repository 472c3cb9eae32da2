import { knownOptions, type EpochMs, type Verdict, type OptionNames } from '@gatewright/kernel'
import { actorOf, notesOn } from '../audit.ts'
import { ended, notFound, written, type Accounts, type Decision } from './account.ts'
import {
  beyond,
  isRoot,
  policiesBeyond,
  relationOf,
  scopesWithin,
  stale,
  standingOf,
  type Caller,
  type Standing,
} from './authority.ts'
import { MAX_POLICIES } from '../bounds.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { isLive, toApiKey } from './key.ts'
import type { CheckedOptions } from '../options.ts'
import { randomBase62 } from '../random.ts'
import type { ApiKey, KeyPolicyRecord, KeyRecord, KeyWrite, PolicyRecord } from '../storage/port.ts'

/** What is to change about a key. Its sessions end; clients mint again. */
export interface KeyChange {
  /** The key's new scopes. On the caller's own key or one above it they can only be fewer. */
  readonly scopes?: readonly string[]
  /**
   * A policy document, checked by the host. On a key below the caller it takes the place of the key's own
   * policies; on the caller's own key or one above it joins them.
   */
  readonly policy?: unknown
}

const CHANGE: OptionNames<KeyChange> = {
  scopes: true,
  policy: true,
}

/** Makes the verbs that change and revoke keys. */
export function createKeyChanger(
  options: CheckedOptions,
  accounts: Accounts,
): {
  changeKey(caller: Caller, keyId: string, change: KeyChange): Promise<Verdict<ApiKey, IssuerDenial>>
  revokeKey(caller: Caller, keyId: string): Promise<Verdict<ApiKey, IssuerDenial>>
} {
  const accountOf = async (caller: Caller, keyId: string): Promise<string | undefined> =>
    caller === 'operator' ? (await options.keys.find(keyId))?.accountId : caller.accountId

  return {
    async changeKey(caller, keyId, change) {
      knownOptions('changeKey', change, CHANGE)
      const accountId = await accountOf(caller, keyId)
      if (accountId === undefined) return notFound
      const policyId = `pol_${randomBase62(16)}`
      const borrowed = caller === 'operator' ? [] : await options.sessions.policies(caller.policyIds)
      return accounts(accountId, (keys, now): Decision<ApiKey> => {
        const decided = decideChange(keys, now, caller, keyId, change, policyId, borrowed)
        if (!decided.ok) return decided
        const { value, write } = decided
        if (!write) return { ok: true, value }
        const notes = notesOn('key.change', write.keys)
        return { ok: true, value, write: { ...write, by: actorOf(caller), notes } }
      })
    },
    async revokeKey(caller, keyId) {
      const accountId = await accountOf(caller, keyId)
      if (accountId === undefined) return notFound
      return accounts(accountId, (keys, now): Decision<ApiKey> => {
        const standing = caller === 'operator' ? undefined : standingOf(caller, keys, now)
        if (caller !== 'operator' && !standing) return stale
        const target = keys.find(key => key.id === keyId)
        if (!target) return notFound
        if (standing && !isRoot(standing.key) && relationOf(target, standing) === 'other') return notFound
        if (!isLive(target, now)) return { ok: true, value: toApiKey(target) }
        const write = ended(keys, [keyId], now)
        const value = toApiKey(write.keys.find(key => key.id === keyId) as KeyRecord)
        const notes = notesOn('key.revoke', write.keys)
        return { ok: true, value, write: { ...write, by: actorOf(caller), notes } }
      })
    },
  }
}

function decideChange(
  keys: readonly KeyRecord[],
  now: EpochMs,
  caller: Caller,
  keyId: string,
  change: KeyChange,
  policyId: string,
  borrowed: readonly PolicyRecord[],
): IssuerDenial | { readonly ok: true; readonly value: ApiKey; readonly write?: KeyWrite } {
  const standing = caller === 'operator' ? undefined : standingOf(caller, keys, now)
  if (caller !== 'operator' && !standing) return stale
  const target = keys.find(key => key.id === keyId && isLive(key, now))
  const relation = target && standing ? relationOf(target, standing) : 'below'
  if (!target || !(standing === undefined || isRoot(standing.key) || relation !== 'other')) return notFound
  if (relation === 'other') return beyond
  const parent = keys.find(key => key.lineageId === target.ancestry.at(-1) && isLive(key, now))
  const next =
    relation === 'below'
      ? rewritten(target, parent, standing, change, policyId)
      : narrowed(target, change, policyId)
  if ('ok' in next) return next
  if (same(next, target)) return { ok: true, value: toApiKey(target) }
  const write = cascaded(keys, target, next, now)
  if (write.keys.some(key => key.policyIds.length > MAX_POLICIES)) {
    return deny('policy_blocked', 'policies stand too deep', { details: { rule: 'max_depth' } })
  }
  const documents = [
    ...borrowed,
    ...(change.policy === undefined ? [] : [{ id: policyId, document: change.policy }]),
  ]
  const policies: KeyPolicyRecord[] = documents
    .filter(({ id }) => next.policyIds.includes(id) && !target.policyIds.includes(id))
    .map(one => ({ ...one, lineageId: target.lineageId }))
  const value = toApiKey(write.keys.find(key => key.id === keyId) as KeyRecord)
  return { ok: true, value, write: { ...write, policies } }
}

type Rights = Pick<KeyRecord, 'scopes' | 'policyIds'>

/** A key that stands below: set anew, within what the caller and the key's parent hold. */
function rewritten(
  target: KeyRecord,
  parent: KeyRecord | undefined,
  standing: Standing | undefined,
  change: KeyChange,
  policyId: string,
): Rights | IssuerDenial {
  const scopes = change.scopes ? [...new Set(change.scopes)] : target.scopes
  const refusal =
    (standing && (scopesWithin(target.scopes, standing.scopes) ?? scopesWithin(scopes, standing.scopes))) ??
    (parent && scopesWithin(scopes, parent.scopes))
  if (refusal) return refusal
  const inherited = target.policyIds.slice(0, target.inheritedPolicies)
  const own = change.policy === undefined ? target.policyIds.slice(target.inheritedPolicies) : []
  const looser = change.policy !== undefined || scopes.some(scope => !target.scopes.includes(scope))
  // A session may be bound by policies that its key is not. What it loosens stays under them.
  const binding = looser && standing ? policiesBeyond(standing, [...inherited, ...own]) : []
  const added = change.policy === undefined ? [] : [policyId]
  return { scopes, policyIds: [...inherited, ...own, ...binding, ...added] }
}

/** The caller's own key, or one above it: fewer scopes, one more policy, and nothing else. */
function narrowed(target: KeyRecord, change: KeyChange, policyId: string): Rights | IssuerDenial {
  const scopes = change.scopes ? [...new Set(change.scopes)] : target.scopes
  const refusal = scopesWithin(scopes, target.scopes)
  if (refusal) return refusal
  return {
    scopes,
    policyIds: change.policy === undefined ? target.policyIds : [...target.policyIds, policyId],
  }
}

const same = (a: Rights, b: Rights): boolean =>
  a.policyIds.join(' ') === b.policyIds.join(' ') &&
  a.scopes.length === b.scopes.length &&
  a.scopes.every(scope => b.scopes.includes(scope))

/**
 * The change for every live key of the target's lineage, and for all that stand below: they keep of their scopes
 * what the target still holds, and its policies take the place of those they had inherited.
 */
function cascaded(keys: readonly KeyRecord[], target: KeyRecord, next: Rights, now: EpochMs): KeyWrite {
  const live = keys.filter(key => isLive(key, now))
  const lineage = live.filter(key => key.lineageId === target.lineageId)
  const below = live.filter(key => key.ancestry.includes(target.lineageId))
  const dropped = target.policyIds.length
  const changed = below
    .map(key => ({
      ...key,
      scopes: key.scopes.filter(scope => next.scopes.includes(scope)),
      policyIds: [...next.policyIds, ...key.policyIds.slice(dropped)],
      inheritedPolicies: key.inheritedPolicies - dropped + next.policyIds.length,
    }))
    .filter((key, index) => !same(key, below[index] as KeyRecord))
  return written([...lineage.map(key => ({ ...key, ...next })), ...changed], now)
}
