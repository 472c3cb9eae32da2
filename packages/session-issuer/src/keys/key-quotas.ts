import type { EpochMs } from '@gatewright/kernel'
import { ended } from './account.ts'
import { isRoot } from './authority.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { isLive } from './key.ts'
import type { CheckedOptions } from '../options.ts'
import type { KeyRecord, KeyWrite } from '../storage/port.ts'

/** A root that was used or made within this span is never retired to make room, in ms (24 h). */
const SPARED_MS = 86_400_000

/**
 * Decides what has to end so that a new key fits: `maxKeysBelow` for every key above it, `maxLiveKeys` for its
 * account. A lineage counts once. Only a root of the user surface, which a wallet has just proven, makes others
 * end. Denial: `policy_blocked`, rule `max_live_keys`; `limitOf` says which of the two.
 */
export function makeRoom(
  keys: readonly KeyRecord[],
  record: KeyRecord,
  { maxLiveKeys, maxKeysBelow }: Pick<CheckedOptions, 'maxLiveKeys' | 'maxKeysBelow'>,
  now: EpochMs,
): { readonly ok: true; readonly write: KeyWrite } | IssuerDenial {
  const live = keys.filter(key => isLive(key, now))
  const full = record.ancestry.some(
    above => lineagesOf(live.filter(key => key.ancestry.includes(above))).size >= maxKeysBelow,
  )
  if (full) return tooMany('subtree', maxKeysBelow)
  const retires = record.surface === 'user' && isRoot(record)
  const staying = lineagesOf(live)
  while (staying.size >= maxLiveKeys) {
    const next = retires
      ? retirable(
          live.filter(key => staying.has(key.lineageId)),
          now,
        )
      : undefined
    if (next === undefined) return tooMany('account', maxLiveKeys)
    staying.delete(next)
  }
  const going = live.filter(key => !staying.has(key.lineageId)).map(key => key.id)
  return { ok: true, write: ended(keys, going, now) }
}

const lineagesOf = (keys: readonly KeyRecord[]): Set<string> => new Set(keys.map(key => key.lineageId))

function tooMany(limitOf: 'subtree' | 'account', limit: number): IssuerDenial {
  const message =
    limitOf === 'subtree'
      ? `a key above the new one has ${limit} live keys below it: revoke one of them first`
      : `the account has ${limit} live keys: revoke one of them first`
  return deny('policy_blocked', message, { details: { rule: 'max_live_keys', limit, limitOf } })
}

/**
 * The lineage to end next: of the root unused for longest that has anything to give, a key with none below it, the
 * one unused for longest; then the root itself. The use of a key below neither spares it nor its root, or whoever
 * holds such a key could keep the wallet out.
 */
function retirable(live: readonly KeyRecord[], now: EpochMs): string | undefined {
  for (const root of byUse(live.filter(isRoot))) {
    const below = live.filter(key => key.ancestry[0] === root.lineageId)
    const leaves = below.filter(key => !below.some(other => other.ancestry.includes(key.lineageId)))
    const [leaf] = byUse(leaves)
    if (leaf) return leaf.lineageId
    if (root.usedAt <= now - SPARED_MS) return root.lineageId
  }
  return undefined
}

/** Lineages with their latest use, the one unused for longest first. */
function byUse(keys: readonly KeyRecord[]): { readonly lineageId: string; readonly usedAt: EpochMs }[] {
  const latest = new Map<string, EpochMs>()
  for (const { lineageId, lastUsedAt, createdAt } of keys) {
    latest.set(lineageId, Math.max(latest.get(lineageId) ?? 0, lastUsedAt ?? 0, createdAt))
  }
  return [...latest]
    .map(([lineageId, usedAt]) => ({ lineageId, usedAt }))
    .sort((one, other) => one.usedAt - other.usedAt)
}
