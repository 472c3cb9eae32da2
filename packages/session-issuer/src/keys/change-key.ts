import type { Verdict, EpochMs } from '@gatewright/kernel'
import { checkOptions, keyPolicyId } from '@gatewright/kernel/internal'
import { actorOf, keyNotes } from '../audit.ts'
import { endKeys, keyNotFound, raiseVersions, type UpdateAccount, type Decision } from './update-account.ts'
import {
  outsideAuthority,
  isRoot,
  policiesMissingFrom,
  relationOf,
  denyMissingScopes,
  staleCredential,
  findActiveCaller,
  type IssuerCaller,
  type ActiveCaller,
  type Relation,
} from './authority.ts'
import { denyLargePolicy, type CheckChains } from './chain-bounds.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { isLive, toApiKey } from '../key.ts'
import { denyKeyLabel } from './label.ts'
import { MAX_POLICIES } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import { randomBase62 } from '../random.ts'
import type { ApiKey, KeyPolicyRecord, KeyRecord, KeyWrite, PolicyRecord } from '../storage/port.ts'

/**
 * The requested change of a key. Unless only the label is given, the key's sessions end even if the rights stay the same; clients
 * mint new ones.
 */
export interface KeyChange {
  /** The key's new scopes. The caller's own key, or one above it, can only get fewer. */
  readonly scopes?: readonly string[]
  /**
   * A policy document, checked by the host. For a key below the caller it replaces the key's own policies. For the caller's own
   * key or one above it, it is added to them. It continues their counters: what was used stays used. Denial: `invalid_request`
   * with the field `policy` if it, the chain of this key, or that of a live key below it would be too large (8 KiB,
   * 32 KiB, `checkPolicyChain`).
   */
  readonly policy?: unknown
  /**
   * The key's new label, checked as that of a new key; null removes it. Only for a key below the caller, for every key of a
   * console, and for a root key itself: a key cannot rename itself to hide from those who made it.
   */
  readonly label?: string | null
}

/** Makes the methods that change and revoke keys. */
export function makeChangeKeys(
  options: CheckedOptions,
  checkChains: CheckChains,
  updateAccount: UpdateAccount,
): {
  changeKey(caller: IssuerCaller, keyId: string, change: KeyChange): Promise<Verdict<ApiKey, IssuerDenial>>
  revokeKey(caller: IssuerCaller, keyId: string): Promise<Verdict<ApiKey, IssuerDenial>>
} {
  const accountOf = async (caller: IssuerCaller, keyId: string): Promise<string | undefined> =>
    caller === 'operator' ? (await options.keys.find(keyId))?.accountId : caller.accountId

  return {
    async changeKey(caller, keyId, change) {
      checkOptions('changeKey', change, { scopes: true, policy: true, label: true })
      const denied = denyKeyLabel(change.label, options.keyPrefix) ?? denyLargePolicy(change.policy)
      if (denied) return denied
      const accountId = await accountOf(caller, keyId)
      if (accountId === undefined) return keyNotFound
      const random = randomBase62(8)
      const callerPolicies = caller === 'operator' ? [] : await options.sessions.policies(caller.policyIds)
      return updateAccount(accountId, async (keys, now): Promise<Decision<ApiKey>> => {
        const request = { caller, keyId, change, random, callerPolicies }
        const decided = decideChange(keys, now, request)
        if (!decided.ok) return decided
        const { value, write } = decided
        const denial = await denyLargeChains(
          keys,
          decided,
          [...callerPolicies, ...write.policies],
          checkChains,
        )
        if (denial) return denial
        const notes = keyNotes('key.change', write.keys)
        return { ok: true, value, write: { ...write, by: actorOf(caller), notes } }
      })
    },
    async revokeKey(caller, keyId) {
      const accountId = await accountOf(caller, keyId)
      if (accountId === undefined) return keyNotFound
      return updateAccount(accountId, (keys, now): Decision<ApiKey> => {
        const active = caller === 'operator' ? undefined : findActiveCaller(caller, keys, now)
        if (caller !== 'operator' && !active) return staleCredential
        const target = keys.find(key => key.id === keyId)
        if (!target) return keyNotFound
        if (active && !isRoot(active.key) && relationOf(target, active) === 'other') return keyNotFound
        if (!isLive(target, now)) return { ok: true, value: toApiKey(target) }
        const write = endKeys(keys, [keyId], now)
        const value = toApiKey(write.keys.find(key => key.id === keyId) as KeyRecord)
        const notes = keyNotes('key.revoke', write.keys)
        return { ok: true, value, write: { ...write, by: actorOf(caller), notes } }
      })
    },
  }
}

/** A change and who requests it. */
interface ChangeRequest {
  readonly caller: IssuerCaller
  readonly keyId: string
  readonly change: KeyChange
  /** The random part of the id of the new policy, if the change has one. */
  readonly random: string
  readonly callerPolicies: readonly PolicyRecord[]
}

function decideChange(
  keys: readonly KeyRecord[],
  now: EpochMs,
  { caller, keyId, change, random, callerPolicies }: ChangeRequest,
): IssuerDenial | { readonly ok: true; readonly value: ApiKey; readonly write: KeyWrite } {
  const active = caller === 'operator' ? undefined : findActiveCaller(caller, keys, now)
  if (caller !== 'operator' && !active) return staleCredential
  const target = keys.find(key => key.id === keyId && isLive(key, now))
  const relation = target && active ? relationOf(target, active) : 'below'
  if (!target || !(active === undefined || isRoot(active.key) || relation !== 'other')) return keyNotFound
  // A console's key never changes. A console may narrow every key of its account, as it may revoke every key.
  if (target.console || (relation === 'other' && !active?.key.console)) return outsideAuthority
  if (change.label !== undefined) {
    if (!mayLabel(relation, active)) return outsideAuthority
    if (change.scopes === undefined && change.policy === undefined)
      return relabel(keys, target, change.label, now)
  }
  const policyId = keyPolicyId(target.lineageId, random)
  const parent = keys.find(key => key.lineageId === target.ancestry.at(-1) && isLive(key, now))
  const next =
    relation === 'below'
      ? rewriteRights({ target, parent }, active, change, policyId)
      : narrowRights(target, change, policyId)
  if ('ok' in next) return next
  const write = cascadeChange(keys, target, { ...next, ...newLabel(change) }, now)
  if (write.keys.some(key => key.policyIds.length > MAX_POLICIES)) {
    return deny('policy_blocked', `more than ${MAX_POLICIES} policies`, { details: { rule: 'max_depth' } })
  }
  const documents = [
    ...callerPolicies,
    ...(change.policy === undefined ? [] : [{ id: policyId, document: change.policy }]),
  ]
  const policies: KeyPolicyRecord[] = documents
    .filter(({ id }) => next.policyIds.includes(id) && !target.policyIds.includes(id))
    .map(one => ({ ...one, lineageId: target.lineageId }))
  const value = toApiKey(write.keys.find(key => key.id === keyId) as KeyRecord)
  return { ok: true, value, write: { ...write, policies } }
}

/** Whether a caller may change the label of a key. */
function mayLabel(relation: Relation, active: ActiveCaller | undefined): boolean {
  if (active === undefined || active.key.console || relation === 'below') return true
  return relation === 'own' && isRoot(active.key)
}

const newLabel = ({ label }: KeyChange): Partial<Pick<KeyRecord, 'label'>> =>
  label === undefined ? {} : { label }

/** Changes the label of every live key of a lineage and nothing else: sessions stay. */
function relabel(
  keys: readonly KeyRecord[],
  target: KeyRecord,
  label: string | null,
  now: EpochMs,
): { readonly ok: true; readonly value: ApiKey; readonly write: KeyWrite } {
  const lineage = keys.filter(key => key.lineageId === target.lineageId && isLive(key, now))
  const write = { keys: lineage.map(key => ({ ...key, label })), policies: [], feed: [] }
  return { ok: true, value: toApiKey({ ...target, label }), write }
}

/** Denies a change that would make the chain of the key, or of a key below it, too large. */
async function denyLargeChains(
  before: readonly KeyRecord[],
  { value, write }: { readonly value: ApiKey; readonly write: KeyWrite },
  given: readonly PolicyRecord[],
  checkChains: CheckChains,
): Promise<IssuerDenial | undefined> {
  const joined = write.keys.filter(({ id, policyIds }) => {
    const held = before.find(key => key.id === id)?.policyIds ?? []
    return policyIds.some(policyId => !held.includes(policyId))
  })
  const chainsOf = (isOwn: boolean): (readonly string[])[] =>
    joined.filter(key => (key.lineageId === value.lineageId) === isOwn).map(key => key.policyIds)
  const denial = await checkChains(chainsOf(true), given)
  if (denial) return denial
  const denialBelow = await checkChains(chainsOf(false), given)
  return denialBelow && { ...denialBelow, message: `${denialBelow.message}, or revoke keys below this one` }
}

type Rights = Pick<KeyRecord, 'scopes' | 'policyIds'>

/** Computes the new rights of a key below the caller, within the rights of the caller and of the key's parent. */
function rewriteRights(
  { target, parent }: { readonly target: KeyRecord; readonly parent: KeyRecord | undefined },
  active: ActiveCaller | undefined,
  change: KeyChange,
  policyId: string,
): Rights | IssuerDenial {
  const scopes = change.scopes ? [...new Set(change.scopes)] : target.scopes
  const denial =
    (active &&
      (denyMissingScopes(target.scopes, active.scopes) ?? denyMissingScopes(scopes, active.scopes))) ??
    (parent && denyMissingScopes(scopes, parent.scopes))
  if (denial) return denial
  const inherited = target.policyIds.slice(0, target.inheritedPolicies)
  const own = change.policy === undefined ? target.policyIds.slice(target.inheritedPolicies) : []
  const isLooser = change.policy !== undefined || scopes.some(scope => !target.scopes.includes(scope))
  // A session may be bound by policies that its key does not have. A key that it loosens gets these policies, too.
  const binding = isLooser && active ? policiesMissingFrom(active, [...inherited, ...own]) : []
  const added = change.policy === undefined ? [] : [policyId]
  return { scopes, policyIds: [...inherited, ...own, ...binding, ...added] }
}

/** Computes the new rights of a key that the caller may only narrow: fewer scopes, and one more policy. */
function narrowRights(target: KeyRecord, change: KeyChange, policyId: string): Rights | IssuerDenial {
  const scopes = change.scopes ? [...new Set(change.scopes)] : target.scopes
  const denial = denyMissingScopes(scopes, target.scopes)
  if (denial) return denial
  return {
    scopes,
    policyIds: change.policy === undefined ? target.policyIds : [...target.policyIds, policyId],
  }
}

/** Whether a key whose scopes were narrowed still has the rights that it had. */
const haveSameRights = (narrowed: Rights, before: Rights): boolean =>
  narrowed.policyIds.join(' ') === before.policyIds.join(' ') &&
  narrowed.scopes.length === before.scopes.length

/**
 * Applies the change to every live key of the target's lineage, and to the keys below whose rights change with it. These keep
 * the scopes that the target still holds, and inherit the target's new policies in place of the old ones.
 */
function cascadeChange(
  keys: readonly KeyRecord[],
  target: KeyRecord,
  next: Rights & Partial<Pick<KeyRecord, 'label'>>,
  now: EpochMs,
): KeyWrite {
  const live = keys.filter(key => isLive(key, now))
  const lineage = live.filter(key => key.lineageId === target.lineageId)
  const below = live.filter(key => key.ancestry.includes(target.lineageId))
  const inherited = target.policyIds.length
  const changed = below
    .map(key => ({
      ...key,
      scopes: key.scopes.filter(scope => next.scopes.includes(scope)),
      policyIds: [...next.policyIds, ...key.policyIds.slice(inherited)],
      inheritedPolicies: key.inheritedPolicies - inherited + next.policyIds.length,
    }))
    .filter((key, index) => !haveSameRights(key, below[index] as KeyRecord))
  return raiseVersions([...lineage.map(key => ({ ...key, ...next })), ...changed], now)
}
