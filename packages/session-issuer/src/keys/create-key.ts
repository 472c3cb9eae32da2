import { allow, type Session, type Verdict, type EpochMs } from '@gatewright/kernel'
import {
  isStorableText,
  checkOptions,
  keyPolicyId,
  type Surface,
  type OptionTable,
} from '@gatewright/kernel/internal'
import { mergeWrites, type UpdateAccount, type Decision } from './update-account.ts'
import { actorOf, keyNotes } from '../audit.ts'
import {
  isSession,
  consoleMakesNoKeys,
  denyMissingScopes,
  staleCredential,
  findActiveCaller,
  type ActiveCaller,
} from './authority.ts'
import { denyLargePolicy, type CheckChains } from './chain-bounds.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { toApiKey } from '../key.ts'
import { endKeysOverQuota } from './key-quotas.ts'
import { denyKeyLabel } from './label.ts'
import type { KeyTexts } from './key-text.ts'
import { creatorOf, sessionPath } from './creators.ts'
import { MAX_DEPTH, MAX_POLICIES } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import type { KeyDigester } from './peppers.ts'
import { randomBase62 } from '../random.ts'
import type {
  ApiKey,
  KeyCreator,
  KeyPolicyRecord,
  KeyRecord,
  PolicyRecord,
  SessionStorage,
} from '../storage/port.ts'

/** The requested key. */
export interface KeyRequest {
  readonly surface: Surface
  /** The account that owns the key; for a partner key the partner's id. */
  readonly accountId: string
  readonly userId: string | null
  readonly walletAddress: string | null
  /**
   * What people call the key, shown in lists and in the audit log. Denial: `invalid_request` with the field `label` unless it is 1 to 64
   * characters that are safe to show in one line, and no key. Default null.
   */
  readonly label?: string | null
  /** The scopes of the key; for a partner key an upper bound for those of its sessions. */
  readonly scopes: readonly string[]
  /**
   * A policy document, checked by the host. It is added to the chain below the parent's policies. Denial: `invalid_request` with the
   * field `policy` if it or the chain would be too large (8 KiB, 32 KiB, `checkPolicyChain`).
   */
  readonly policy?: unknown
  /**
   * The key or session that creates the key, of the same account and surface; otherwise the denial is `unauthorized`. Absent: a
   * root key, as bootstrap and the operator create them.
   */
  readonly parent?: ApiKey | Session
  /** Who creates a root key, for its audit row. Default `operator`. */
  readonly rootBy?: 'wallet' | 'operator'
  /** The key is valid while `now < expiresAt`; it never ends later than its parent. */
  readonly expiresAt?: EpochMs
}

const REQUEST: OptionTable<KeyRequest> = {
  surface: true,
  accountId: true,
  userId: true,
  walletAddress: true,
  label: true,
  scopes: true,
  policy: true,
  parent: true,
  rootBy: true,
  expiresAt: true,
}

/** A new key. `text` is the only copy of its secret. */
export interface CreatedKey {
  readonly key: ApiKey
  readonly text: string
}

/**
 * Makes the method that creates keys. If the quota of live keys is reached, only a new root of the user surface retires other
 * keys.
 */
export function makeCreateKey(
  options: CheckedOptions,
  {
    texts,
    peppers,
    checkChains,
  }: { readonly texts: KeyTexts; readonly peppers: KeyDigester; readonly checkChains: CheckChains },
  updateAccount: UpdateAccount,
): (request: KeyRequest) => Promise<Verdict<CreatedKey, IssuerDenial>> {
  return async request => {
    checkOptions('createKey', request, REQUEST)
    const denied = denyRequest(request, options.keyPrefix)
    if (denied) return denied
    const { surface, accountId, policy, parent, rootBy = 'operator' } = request
    const { id, text } = texts.generate(surface, accountId)
    const policyId = keyPolicyId(id, randomBase62(8))
    const own = policy === undefined ? [] : [{ id: policyId, document: policy }]
    const given = [...(await policiesOfSession(parent, options.sessions)), ...own]
    return updateAccount(accountId, async (keys, now): Promise<Decision<CreatedKey>> => {
      const creator = await findCreator(request, { keys, sessions: options.sessions, now })
      if (!creator.ok) return creator
      const { active, createdBy } = creator.value
      const policyIds = chainOf(request, active, policyId)
      const identity = {
        id,
        prefix: texts.display(surface, id),
        policyIds,
        createdBy,
        ...peppers.digest(text),
      }
      const record = buildKeyRecord(request, active, identity, now)
      const tooLong = denyLongChain(record)
      if (tooLong) return tooLong
      const tooLarge = own.length > 0 && (await checkChains([policyIds], given))
      if (tooLarge) return tooLarge
      const quota = endKeysOverQuota(keys, record, options, now)
      if (!quota.ok) return quota
      const created = { keys: [record], policies: policiesOfLineage(record, given), feed: [] }
      const notes = [...keyNotes('key.create', [record]), ...keyNotes('key.retire', quota.write.keys)]
      const write = { ...mergeWrites(created, quota.write), by: actorOf(parent ?? rootBy), notes }
      return { ok: true, value: { key: toApiKey(record), text }, write }
    })
  }
}

/** Denies a request that is wrong whatever is stored: a text that no store keeps, a wrong label, a large policy, a caller of another account. */
function denyRequest(request: KeyRequest, keyPrefix: string): IssuerDenial | undefined {
  const { label, policy, parent, accountId } = request
  const bad = (['accountId', 'userId'] as const).find(name => !isStorableText(request[name] ?? ''))
  if (bad) return deny('invalid_request', `${bad} must be well-formed Unicode without U+0000`, { field: bad })
  const denied = denyKeyLabel(label, keyPrefix) ?? denyLargePolicy(policy)
  if (denied) return denied
  // A session that a partner minted belongs to the account of the user, though its key is one of the partner's account.
  return parent && parent.accountId !== accountId ? staleCredential : undefined
}

/** Returns the policies of a session that creates a key. They are deleted with the session, so the key stores copies of them. */
async function policiesOfSession(
  parent: KeyRequest['parent'],
  sessions: SessionStorage,
): Promise<readonly PolicyRecord[]> {
  if (!parent || !isSession(parent) || parent.policyIds.length === 0) return []
  return sessions.policies(parent.policyIds)
}

/** Who creates a key. Both members are empty for a root key. */
interface Creator {
  readonly active: ActiveCaller | undefined
  readonly createdBy: KeyCreator | null
}

/** Finds the caller as it is stored now. Denies one that has ended, is of another surface, is a console, or lacks a requested scope. */
async function findCreator(
  { parent, surface, scopes }: KeyRequest,
  stored: { readonly keys: readonly KeyRecord[]; readonly sessions: SessionStorage; readonly now: EpochMs },
): Promise<Verdict<Creator, IssuerDenial>> {
  if (!parent) return allow({ active: undefined, createdBy: null })
  const { keys, sessions, now } = stored
  const active = findActiveCaller(parent, keys, now)
  if (!active) return staleCredential
  const sessionIds = await sessionPath(parent, sessions, now)
  if (!sessionIds || active.key.surface !== surface) return staleCredential
  if (active.key.console) return consoleMakesNoKeys
  return (
    denyMissingScopes(scopes, active.scopes) ?? allow({ active, createdBy: creatorOf(active, sessionIds) })
  )
}

/** Denies a key whose chain has too many keys or policies. */
function denyLongChain({ policyIds, ancestry }: KeyRecord): IssuerDenial | undefined {
  if (policyIds.length <= MAX_POLICIES && ancestry.length <= MAX_DEPTH) return undefined
  const message = `key chain deeper than ${MAX_DEPTH}, or more than ${MAX_POLICIES} policies`
  return deny('policy_blocked', message, { details: { rule: 'max_depth' } })
}

/** Returns the policy chain of the new key: all policies that bind the caller, then the key's own. */
function chainOf(request: KeyRequest, active: ActiveCaller | undefined, policyId: string): readonly string[] {
  const above = active?.policyIds ?? []
  return request.policy === undefined ? above : [...above, policyId]
}

/** Returns the policies that a new key stores with its lineage: those of its chain whose documents are given. */
function policiesOfLineage(
  { lineageId, policyIds }: KeyRecord,
  documents: readonly PolicyRecord[],
): KeyPolicyRecord[] {
  return documents.filter(({ id }) => policyIds.includes(id)).map(one => ({ ...one, lineageId }))
}

/** Builds the record of a new key; without `active` that of a root. */
export function buildKeyRecord(
  request: KeyRequest,
  active: ActiveCaller | undefined,
  identity: Pick<KeyRecord, 'id' | 'prefix' | 'policyIds' | 'createdBy' | 'digest' | 'pepperId'>,
  now: EpochMs,
): KeyRecord {
  const above = active?.key
  const end = Math.min(request.expiresAt ?? Infinity, above?.expiresAt ?? Infinity)
  return {
    ...identity,
    label: request.label ?? null,
    surface: request.surface,
    accountId: request.accountId,
    userId: request.userId,
    walletAddress: request.walletAddress,
    scopes: [...new Set(request.scopes)],
    inheritedPolicies: above?.policyIds.length ?? 0,
    lineageId: identity.id,
    ancestry: above ? [...above.ancestry, above.lineageId] : [],
    parentId: above?.id ?? null,
    rotatedBy: null,
    successorId: null,
    version: 1,
    createdAt: now,
    expiresAt: Number.isFinite(end) ? end : null,
    revokedAt: null,
    // A paused key creates none.
    pauses: [],
    lastUsedAt: null,
    console: false,
  }
}
