import { knownOptions, type EpochMs, type Verdict, type OptionNames } from '@gatewright/kernel'
import { actorOf, notesOn } from '../audit.ts'
import { ended, notFound, together, type Accounts, type Decision } from './account.ts'
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
import { MAX_OVERLAP_SECONDS } from '../bounds.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import type { CreatedKey } from './create-key.ts'
import { isLive, toApiKey } from './key.ts'
import type { KeyTexts } from './key-text.ts'
import { makerOf, sessionPath } from './creators.ts'
import type { CheckedOptions } from '../options.ts'
import type { Peppers } from './peppers.ts'
import type { KeyRecord, KeyWrite } from '../storage/port.ts'

/** How a key is rotated. */
export interface Rotation {
  /** How long the old key still works, 0 to 604 800 s. Default 0. Its sessions end with it. */
  readonly overlapSeconds?: number
}

const ROTATION: OptionNames<Rotation> = {
  overlapSeconds: true,
}

/**
 * Makes the verb that replaces a key by a successor with the same rights, policies, place and end. Allowed to the
 * key itself, to the operator, and to whoever holds all of its rights from above; never to a session of the key,
 * which would gain a secret that outlives it. While a successor has never been used, rotating again replaces it,
 * so a lost answer costs nothing; a used one is refused (`already_rotated`). One predecessor overlaps at most.
 */
export function createKeyRotator(
  options: CheckedOptions,
  texts: KeyTexts,
  peppers: Peppers,
  accounts: Accounts,
): (caller: Caller, keyId: string, rotation?: Rotation) => Promise<Verdict<CreatedKey, IssuerDenial>> {
  return async (caller, keyId, rotation = {}) => {
    const { overlapSeconds = 0 } = knownOptions('rotateKey', rotation, ROTATION)
    if (!Number.isSafeInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > MAX_OVERLAP_SECONDS) {
      return deny('invalid_request', `overlapSeconds must be an integer from 0 to ${MAX_OVERLAP_SECONDS}`, {
        field: 'overlapSeconds',
      })
    }
    const found = await options.keys.find(keyId)
    if (!found || (caller !== 'operator' && caller.accountId !== found.accountId)) return notFound
    const { id, text } = texts.draw(found.surface)
    const prefix = texts.display(found.surface, id)
    return accounts(found.accountId, async (keys, now): Promise<Decision<CreatedKey>> => {
      const standing = caller === 'operator' ? undefined : standingOf(caller, keys, now)
      if (caller !== 'operator' && !standing) return stale
      const target = keys.find(key => key.id === keyId)
      const refusal = refuse(target, standing, now)
      if (refusal || !target) return refusal ?? notFound
      const path = caller === 'operator' ? [] : await sessionPath(caller, options.sessions, now)
      if (!path) return stale
      const later = keys.find(key => key.id === target.successorId)
      if (later && (later.lastUsedAt !== null || later.successorId !== null)) {
        return deny('policy_blocked', 'the key has been rotated', { details: { rule: 'already_rotated' } })
      }
      const successor: KeyRecord = {
        ...target,
        ...{ id, prefix, ...peppers.digest(text) },
        ...{ successorId: null, version: 1, createdAt: now, lastUsedAt: null },
        rotatedBy: holderOf(target, standing, path),
        expiresAt: later ? later.expiresAt : target.expiresAt,
      }
      const write = succeeded(keys, target, successor, now + overlapSeconds * 1000, now)
      const notes = [...notesOn('key.rotate', [target]), ...notesOn('key.create', [successor])]
      const noted = { ...write, by: actorOf(caller), notes }
      return { ok: true, value: { key: toApiKey(successor), text }, write: noted }
    })
  }
}

/** Who holds the successor's text beside the key's own holders: nobody new where the key rotates itself. */
function holderOf(
  target: KeyRecord,
  standing: Standing | undefined,
  path: readonly string[],
): KeyRecord['rotatedBy'] {
  if (!standing) return null
  return relationOf(target, standing) === 'own' ? target.rotatedBy : makerOf(standing, path)
}

/** Whoever gets the successor's text must hold all that it can do, and be bound by no policy that it is not. */
function refuse(
  target: KeyRecord | undefined,
  standing: Standing | undefined,
  now: EpochMs,
): IssuerDenial | undefined {
  if (!target || !isLive(target, now)) return notFound
  if (!standing) return undefined
  const relation = relationOf(target, standing)
  if (relation === 'other' && !isRoot(standing.key)) return notFound
  if (relation === 'own' && !standing.bySession && standing.key.id === target.id) return undefined
  if (relation !== 'below' || policiesBeyond(standing, target.policyIds).length > 0) return beyond
  return scopesWithin(target.scopes, standing.scopes)
}

/** The successor stands, the old key ends with the overlap, and whatever else is left of the lineage ends now. */
function succeeded(
  keys: readonly KeyRecord[],
  target: KeyRecord,
  successor: KeyRecord,
  overlapEnd: EpochMs,
  now: EpochMs,
): KeyWrite {
  const overlaps = overlapEnd > now
  const others = keys
    .filter(key => key.lineageId === target.lineageId && (key.id !== target.id || !overlaps))
    .map(key => key.id)
  const ending = ended([...keys, successor], others, now)
  const replaced = { successorId: successor.id }
  if (!overlaps) {
    const last = ending.keys.map(key => (key.id === target.id ? { ...key, ...replaced } : key))
    return together({ keys: [successor], policies: [], feed: [] }, { ...ending, keys: last })
  }
  const expiresAt = Math.min(overlapEnd, target.expiresAt ?? Infinity)
  // The version stays: sessions of the old key live on until the overlap ends, which this entry announces.
  const end = { kind: 'key' as const, id: target.id, version: target.version + 1, at: now, from: expiresAt }
  const old = { ...target, ...replaced, expiresAt }
  return together({ keys: [successor, old], policies: [], feed: [end] }, ending)
}
