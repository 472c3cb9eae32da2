import type { EpochMs } from '@gatewright/kernel'
import { deny, type IssuerDenial } from '../codes.ts'
import { ROOT_KEY_IDLE_MS } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import type { KeyRecord, KeyWrite } from '../storage/port.ts'
import { isRoot } from './authority.ts'
import { isLive } from '../key.ts'
import { endKeys } from './update-account.ts'

/**
 * Decides which keys must end so that a new key does not exceed a quota: `maxKeysBelow` for every key above it, `maxLiveKeys`
 * for its account. A lineage counts once. Only a new root of the user surface, for which a wallet has just signed, ends other
 * keys. Denial: `policy_blocked`, rule `max_live_keys`; `limitOf` says which of the two limits it is.
 */
export function endKeysOverQuota(
  keys: readonly KeyRecord[],
  record: KeyRecord,
  { maxLiveKeys, maxKeysBelow }: CheckedOptions,
  now: EpochMs,
): { readonly ok: true; readonly write: KeyWrite } | IssuerDenial {
  // Nobody holds the key of a console, so it neither counts nor is retired.
  const live = keys.filter(key => isLive(key, now) && !key.console)
  const isSubtreeFull = record.ancestry.some(
    above => lineagesOf(live.filter(key => key.ancestry.includes(above))).size >= maxKeysBelow,
  )
  if (isSubtreeFull) return tooManyKeys('subtree', maxKeysBelow)
  const mayRetire = record.surface === 'user' && isRoot(record)
  const staying = lineagesOf(live)
  while (staying.size >= maxLiveKeys) {
    const stayingKeys = live.filter(key => staying.has(key.lineageId))
    const next = mayRetire ? nextToRetire(stayingKeys, now - ROOT_KEY_IDLE_MS) : undefined
    if (next === undefined) return tooManyKeys('account', maxLiveKeys)
    staying.delete(next)
  }
  const retired = live.filter(key => !staying.has(key.lineageId)).map(key => key.id)
  return { ok: true, write: endKeys(keys, retired, now) }
}

const lineagesOf = (keys: readonly KeyRecord[]): Set<string> => new Set(keys.map(key => key.lineageId))

function tooManyKeys(limitOf: 'subtree' | 'account', limit: number): IssuerDenial {
  const message =
    limitOf === 'subtree'
      ? `a key above the new one has ${limit} live keys below it: revoke one of them first`
      : `the account has ${limit} live keys: revoke one of them first`
  return deny('policy_blocked', message, { details: { rule: 'max_live_keys', limit, limitOf } })
}

/**
 * Chooses the lineage to end next. It goes through the roots, the one unused for longest first, and ends the first of these: a
 * descendant without keys below it, the one unused for longest first; then the root itself, if it was last used or made at or
 * before `idleSince`. Using a key below protects neither that key nor its root: otherwise the holder of such a key could keep
 * the wallet from getting a new one.
 */
function nextToRetire(live: readonly KeyRecord[], idleSince: EpochMs): string | undefined {
  for (const root of leastRecentlyUsedFirst(live.filter(isRoot))) {
    const below = live.filter(key => key.ancestry[0] === root.lineageId)
    const leaves = below.filter(key => !below.some(other => other.ancestry.includes(key.lineageId)))
    const [leaf] = leastRecentlyUsedFirst(leaves)
    if (leaf) return leaf.lineageId
    if (root.usedAt <= idleSince) return root.lineageId
  }
  return undefined
}

/** Returns lineages with their latest use, the one unused for longest first. */
function leastRecentlyUsedFirst(
  keys: readonly KeyRecord[],
): { readonly lineageId: string; readonly usedAt: EpochMs }[] {
  const latest = new Map<string, EpochMs>()
  for (const { lineageId, lastUsedAt, createdAt } of keys) {
    latest.set(lineageId, Math.max(latest.get(lineageId) ?? 0, lastUsedAt ?? 0, createdAt))
  }
  return [...latest]
    .map(([lineageId, usedAt]) => ({ lineageId, usedAt }))
    .sort((one, other) => one.usedAt - other.usedAt)
}
