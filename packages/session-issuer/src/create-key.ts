import { allow, Fault, missingScopes, type EpochMs, type Surface, type Verdict } from '@gatewright/kernel'
import { MAX_DEPTH, MAX_POLICIES } from './bounds.ts'
import { deny, type IssuerDenial } from './codes.ts'
import { isLive, toApiKey } from './key.ts'
import { keyDisplay, newKeyText } from './key-text.ts'
import type { CheckedOptions } from './options.ts'
import type { Peppers } from './peppers.ts'
import { randomBase62 } from './random.ts'
import type { ApiKey, KeyRecord } from './storage/port.ts'

/** What a new key is to be. */
export interface KeyRequest {
  readonly surface: Surface
  readonly accountId: string
  readonly userId: string | null
  readonly walletAddress: string | null
  readonly scopes: readonly string[]
  /** A policy document, checked by the host. It joins the chain below the parent's policies. */
  readonly policy?: unknown
  /** The key that creates it. Absent: a root, as bootstrap and the operator make them. */
  readonly parent?: ApiKey
  /** The key is good while `now < expiresAt`; never later than its parent's end. */
  readonly expiresAt?: EpochMs
}

/** A new key. `text` is the only copy of its secret. */
export interface CreatedKey {
  readonly key: ApiKey
  readonly text: string
}

/** How often a decision is made again because the account's keys changed meanwhile. */
const ATTEMPTS = 100

/** Makes the verb that creates keys. */
export function createKeyMaker(
  options: CheckedOptions,
  peppers: Peppers,
): (request: KeyRequest) => Promise<Verdict<CreatedKey, IssuerDenial>> {
  const { keys, clock } = options
  return async request => {
    const { accountId, parent, policy } = request
    const missing = parent ? missingScopes(request.scopes, parent.scopes) : []
    if (missing.length > 0) {
      return deny('insufficient_scope', `the key does not hold ${missing.join(' ')}`, {
        details: { scope: missing },
      })
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const now = clock.now()
      const { revision, keys: all } = await keys.load(accountId)
      const above = parent && all.find(key => key.id === parent.id)
      if (parent && (!above || !isLive(above, now) || above.version !== parent.version)) {
        return deny('unauthorized', 'the API key is not valid', { reason: 'the parent has changed or ended' })
      }
      const { record, text } = draw(options, peppers, request, above, now)
      if (record.policyIds.length > MAX_POLICIES || record.ancestry.length > MAX_DEPTH) {
        return deny('policy_blocked', 'keys and policies stand too deep', { details: { rule: 'max_depth' } })
      }
      const own = record.policyIds.at(-1) as string
      const policies =
        policy === undefined ? [] : [{ id: own, lineageId: record.lineageId, document: policy }]
      if (await keys.commit(accountId, revision, { keys: [record], policies, feed: [] })) {
        return allow({ key: toApiKey(record), text })
      }
    }
    throw new Fault('ERR_OVERLOADED', 'the keys of the account keep changing')
  }
}

/** Draws a new record and its text. */
function draw(
  options: CheckedOptions,
  peppers: Peppers,
  request: KeyRequest,
  above: KeyRecord | undefined,
  now: EpochMs,
): { record: KeyRecord; text: string } {
  const { id, text } = newKeyText(options, request.surface)
  const inherited = above?.policyIds ?? []
  const end = Math.min(request.expiresAt ?? Infinity, above?.expiresAt ?? Infinity)
  const record: KeyRecord = {
    id,
    prefix: keyDisplay(options, request.surface, id),
    surface: request.surface,
    accountId: request.accountId,
    userId: request.userId,
    walletAddress: request.walletAddress,
    scopes: [...new Set(request.scopes)],
    policyIds: request.policy === undefined ? inherited : [...inherited, `pol_${randomBase62(16)}`],
    inheritedPolicies: inherited.length,
    lineageId: id,
    ancestry: above ? [...above.ancestry, above.lineageId] : [],
    parentId: above?.id ?? null,
    successorId: null,
    version: 1,
    createdAt: now,
    expiresAt: Number.isFinite(end) ? end : null,
    revokedAt: null,
    lastUsedAt: null,
    ...peppers.digest(text),
  }
  return { record, text }
}
