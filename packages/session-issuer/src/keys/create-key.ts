import {
  isStorableText,
  knownOptions,
  type EpochMs,
  type Session,
  type Surface,
  type Verdict,
  type OptionNames,
} from '@gatewright/kernel'
import { together, type Accounts, type Decision } from './account.ts'
import { actorOf, notesOn } from '../audit.ts'
import { isSession, scopesWithin, stale, standingOf, type Standing } from './authority.ts'
import { MAX_DEPTH, MAX_POLICIES } from '../bounds.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { toApiKey } from './key.ts'
import { makeRoom } from './key-quotas.ts'
import type { KeyTexts } from './key-text.ts'
import { makerOf, sessionPath } from './creators.ts'
import type { CheckedOptions } from '../options.ts'
import type { Peppers } from './peppers.ts'
import { randomBase62 } from '../random.ts'
import type { ApiKey, KeyPolicyRecord, KeyRecord, PolicyRecord } from '../storage/port.ts'

/** What a new key is to be. */
export interface KeyRequest {
  readonly surface: Surface
  /** The account that owns the key; for a partner key the partner's id. */
  readonly accountId: string
  readonly userId: string | null
  readonly walletAddress: string | null
  /** For a partner key its ceiling. */
  readonly scopes: readonly string[]
  /** A policy document, checked by the host. It joins the chain below the parent's policies. */
  readonly policy?: unknown
  /** The key or session that creates it. Absent: a root, as bootstrap and the operator make them. */
  readonly parent?: ApiKey | Session
  /** Who makes a root, for its audit row. Default `operator`. */
  readonly rootBy?: 'wallet' | 'operator'
  /** The key is good while `now < expiresAt`; never later than its parent's end. */
  readonly expiresAt?: EpochMs
}

const REQUEST: OptionNames<KeyRequest> = {
  surface: true,
  accountId: true,
  userId: true,
  walletAddress: true,
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

/** Makes the verb that creates keys. At the cap on live keys only a new root of the user surface retires others. */
export function createKeyMaker(
  options: CheckedOptions,
  texts: KeyTexts,
  peppers: Peppers,
  accounts: Accounts,
): (request: KeyRequest) => Promise<Verdict<CreatedKey, IssuerDenial>> {
  return async request => {
    knownOptions('createKey', request, REQUEST)
    const { parent, rootBy = 'operator' } = request
    const bad = (['accountId', 'userId'] as const).find(name => !isStorableText(request[name] ?? ''))
    if (bad)
      return deny('invalid_request', `${bad} must be well-formed Unicode without U+0000`, { field: bad })
    const drawn = { ...texts.draw(request.surface), policyId: `pol_${randomBase62(16)}` }
    // The policies of a session end with it; a key that stands under them keeps copies.
    const borrowed =
      parent && isSession(parent) && parent.policyIds.length > 0
        ? await options.sessions.policies(parent.policyIds)
        : []
    return accounts(request.accountId, async (keys, now): Promise<Decision<CreatedKey>> => {
      const standing = parent && standingOf(parent, keys, now)
      if (parent && !standing) return stale
      const path = parent ? await sessionPath(parent, options.sessions, now) : []
      if (!path) return stale
      if (standing && standing.key.surface !== request.surface) return stale
      const refusal = standing && scopesWithin(request.scopes, standing.scopes)
      if (refusal) return refusal
      const policyIds = chainOf(request, standing, drawn.policyId)
      const digest = peppers.digest(drawn.text)
      const display = texts.display(request.surface, drawn.id)
      const createdBy = standing ? makerOf(standing, path) : null
      const identity = { id: drawn.id, prefix: display, policyIds, createdBy, ...digest }
      const record = draw(request, standing, identity, now)
      if (policyIds.length > MAX_POLICIES || record.ancestry.length > MAX_DEPTH) {
        return deny('policy_blocked', 'keys and policies stand too deep', { details: { rule: 'max_depth' } })
      }
      const room = makeRoom(keys, record, options, now)
      if (!room.ok) return room
      const policies = ownPolicies(record, request, drawn.policyId, borrowed)
      const write = together({ keys: [record], policies, feed: [] }, room.write)
      const notes = [...notesOn('key.create', [record]), ...notesOn('key.retire', room.write.keys)]
      const noted = { ...write, by: actorOf(parent ?? rootBy), notes }
      return { ok: true, value: { key: toApiKey(record), text: drawn.text }, write: noted }
    })
  }
}

/** The policies the new key stands under: all that bind the caller, then its own. */
function chainOf(request: KeyRequest, standing: Standing | undefined, policyId: string): readonly string[] {
  const above = standing?.policyIds ?? []
  return request.policy === undefined ? above : [...above, policyId]
}

function ownPolicies(
  { lineageId, policyIds }: KeyRecord,
  request: KeyRequest,
  policyId: string,
  borrowed: readonly PolicyRecord[],
): KeyPolicyRecord[] {
  const own = request.policy === undefined ? [] : [{ id: policyId, document: request.policy }]
  return [...borrowed, ...own].filter(({ id }) => policyIds.includes(id)).map(one => ({ ...one, lineageId }))
}

function draw(
  request: KeyRequest,
  standing: Standing | undefined,
  drawn: Pick<KeyRecord, 'id' | 'prefix' | 'policyIds' | 'createdBy' | 'digest' | 'pepperId'>,
  now: EpochMs,
): KeyRecord {
  const above = standing?.key
  const end = Math.min(request.expiresAt ?? Infinity, above?.expiresAt ?? Infinity)
  return {
    ...drawn,
    surface: request.surface,
    accountId: request.accountId,
    userId: request.userId,
    walletAddress: request.walletAddress,
    scopes: [...new Set(request.scopes)],
    inheritedPolicies: above?.policyIds.length ?? 0,
    lineageId: drawn.id,
    ancestry: above ? [...above.ancestry, above.lineageId] : [],
    parentId: above?.id ?? null,
    rotatedBy: null,
    successorId: null,
    version: 1,
    createdAt: now,
    expiresAt: Number.isFinite(end) ? end : null,
    revokedAt: null,
    lastUsedAt: null,
  }
}
