import type { Verdict, EpochMs } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import { actorOf, keyNotes } from '../audit.ts'
import { endKeys, keyNotFound, mergeWrites, type UpdateAccount, type Decision } from './update-account.ts'
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
  type WalletCaller,
} from './authority.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import type { CreatedKey } from './create-key.ts'
import { isLive, toApiKey } from '../key.ts'
import type { KeyTexts } from './key-text.ts'
import { creatorOf, sessionPath } from './creators.ts'
import { MAX_OVERLAP_SECONDS } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import type { KeyDigester } from './peppers.ts'
import type { KeyRecord, KeyWrite } from '../storage/port.ts'

/** Options of a rotation. */
export interface RotationOptions {
  /** How long the old key still works, in seconds, 0 to 604 800 (7 days). Default 0. Its sessions end with it. */
  readonly overlapSeconds?: number
}

/**
 * Makes the method that replaces a key by a successor with the same rights, policies, place in the chain and end. It is allowed
 * for the key itself, the operator, the account's wallet, and a caller above the key that holds all of its rights. It is never
 * allowed for a session of the key, which would get a secret that outlives the session, and never for the key of a console. As
 * long as a successor was never used, another rotation replaces it, so a lost response does no harm. After its first use
 * another rotation of the old key is denied (`already_rotated`). At most one predecessor is still valid during the overlap.
 */
export function makeRotateKey(
  options: CheckedOptions,
  texts: KeyTexts,
  peppers: KeyDigester,
  updateAccount: UpdateAccount,
): (
  by: IssuerCaller | WalletCaller,
  keyId: string,
  rotation?: RotationOptions,
) => Promise<Verdict<CreatedKey, IssuerDenial>> {
  return async (by, keyId, rotation = {}) => {
    const { overlapSeconds = 0 } = checkOptions('rotateKey', rotation, { overlapSeconds: true })
    if (!Number.isSafeInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > MAX_OVERLAP_SECONDS) {
      return deny('invalid_request', `overlapSeconds must be an integer from 0 to ${MAX_OVERLAP_SECONDS}`, {
        field: 'overlapSeconds',
      })
    }
    const found = await options.keys.find(keyId)
    if (!found || !isWithin(by, found)) return keyNotFound
    const caller = typeof by === 'string' || 'walletOf' in by ? undefined : by
    const { id, text } = texts.generate(found.surface, found.accountId)
    const prefix = texts.display(found.surface, id)
    return updateAccount(found.accountId, async (keys, now): Promise<Decision<CreatedKey>> => {
      const active = caller && findActiveCaller(caller, keys, now)
      if (caller && !active) return staleCredential
      const target = keys.find(key => key.id === keyId)
      const denial = denyRotation(target, active, now)
      if (denial || !target) return denial ?? keyNotFound
      const sessionIds = caller ? await sessionPath(caller, options.sessions, now) : []
      if (!sessionIds) return staleCredential
      const current = keys.find(key => key.id === target.successorId)
      if (current && (current.lastUsedAt !== null || current.successorId !== null)) {
        return deny('policy_blocked', 'the key was rotated before, and its successor has been used', {
          details: { rule: 'already_rotated' },
        })
      }
      const successor: KeyRecord = {
        ...target,
        id,
        prefix,
        ...peppers.digest(text),
        successorId: null,
        version: 1,
        createdAt: now,
        lastUsedAt: null,
        rotatedBy: rotatedByAfter(target, active, sessionIds),
        expiresAt: current ? current.expiresAt : target.expiresAt,
      }
      const write = writeSuccessor(keys, { target, successor }, now + overlapSeconds * 1000, now)
      const notes = [...keyNotes('key.rotate', [target]), ...keyNotes('key.create', [successor])]
      const actor = actorOf(caller ?? (by === 'operator' ? by : 'wallet'))
      const audited = { ...write, by: actor, notes }
      return { ok: true, value: { key: toApiKey(successor), text }, write: audited }
    })
  }
}

/** Whether a key is of the caller's account and, for a wallet, of the user surface. */
function isWithin(by: IssuerCaller | WalletCaller, { accountId, surface }: KeyRecord): boolean {
  if (by === 'operator') return true
  return 'walletOf' in by ? by.walletOf === accountId && surface === 'user' : by.accountId === accountId
}

/** Returns the caller above the key that gets the successor's text. If the key rotates itself, the value stays that of the key. */
function rotatedByAfter(
  target: KeyRecord,
  active: ActiveCaller | undefined,
  sessionIds: readonly string[],
): KeyRecord['rotatedBy'] {
  if (!active) return null
  return relationOf(target, active) === 'own' ? target.rotatedBy : creatorOf(active, sessionIds)
}

/**
 * Denies a rotation by a caller that lacks a right of the key, or is bound by a policy that does not bind the key: with the
 * successor's text the caller would gain rights.
 */
function denyRotation(
  target: KeyRecord | undefined,
  active: ActiveCaller | undefined,
  now: EpochMs,
): IssuerDenial | undefined {
  if (!target || !isLive(target, now)) return keyNotFound
  if (target.console) return outsideAuthority
  if (!active) return undefined
  const relation = relationOf(target, active)
  if (relation === 'other' && !isRoot(active.key)) return keyNotFound
  if (relation === 'own' && !active.bySession && active.key.id === target.id) return undefined
  if (relation !== 'below' || policiesMissingFrom(active, target.policyIds).length > 0)
    return outsideAuthority
  return denyMissingScopes(target.scopes, active.scopes)
}

/** Writes the successor. The old key ends after the overlap, and all other keys of the lineage end now. */
function writeSuccessor(
  keys: readonly KeyRecord[],
  { target, successor }: { readonly target: KeyRecord; readonly successor: KeyRecord },
  overlapEnd: EpochMs,
  now: EpochMs,
): KeyWrite {
  const overlaps = overlapEnd > now
  const others = keys
    .filter(key => key.lineageId === target.lineageId && (key.id !== target.id || !overlaps))
    .map(key => key.id)
  const ending = endKeys([...keys, successor], others, now)
  const replaced = { successorId: successor.id }
  if (!overlaps) {
    const last = ending.keys.map(key => (key.id === target.id ? { ...key, ...replaced } : key))
    return mergeWrites({ keys: [successor], policies: [], feed: [] }, { ...ending, keys: last })
  }
  const expiresAt = Math.min(overlapEnd, target.expiresAt ?? Infinity)
  // The version does not change: sessions of the old key live until the overlap ends, which this entry announces.
  const end = { kind: 'key' as const, id: target.id, version: target.version + 1, at: now, from: expiresAt }
  const old = { ...target, ...replaced, expiresAt }
  return mergeWrites({ keys: [successor, old], policies: [], feed: [end] }, ending)
}
