import { allow, Fault, type Verdict, type EpochMs } from '@gatewright/kernel'
import { auditEntryBuilder, type AuditedKeyWrite } from '../audit.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { MAX_ENDED_KEYS } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import type { KeyRecord, KeyWrite } from '../storage/port.ts'
import { endOf, isLive } from '../key.ts'
import { endedLineages, type ReadPolicies } from './lineage.ts'

/** What a decision about an account's keys returns: a denial, or a value and what must be written for it. */
export type Decision<T> =
  | IssuerDenial
  | { readonly ok: true; readonly value: T; readonly write?: AuditedKeyWrite }

/**
 * Runs a decision about all keys of an account and writes its result. `decide` must have no effects, because it may run again.
 * Everything else that it reads must be read after the keys.
 */
export type UpdateAccount = <T>(
  accountId: string,
  decide: (keys: readonly KeyRecord[], now: EpochMs) => Decision<T> | Promise<Decision<T>>,
) => Promise<Verdict<T, IssuerDenial>>

/**
 * How often a decision is repeated because another host committed first. Each lost race means that another change was written,
 * so this many in a row mean overload.
 */
const ATTEMPTS = 50

/** Returns the ended keys beyond the latest 200: keys of consoles before others, and of each kind those that ended first. */
function surplusEndedKeys(keys: readonly KeyRecord[], now: EpochMs): readonly KeyRecord[] {
  return keys
    .filter(key => !isLive(key, now))
    .sort((a, b) => Number(a.console) - Number(b.console) || endOf(b) - endOf(a))
    .slice(MAX_ENDED_KEYS)
}

/**
 * Makes the function that loads an account's keys, decides, and commits against the revision it loaded. When another
 * host committed first, it does all of this again. In this process the changes of one account run one after another.
 * Fault: `ERR_OVERLOADED`.
 */
export function createAccountUpdater(
  { keys, clock, auditRetentionDays, beforeKeysAreDeleted }: CheckedOptions,
  policies: ReadPolicies,
  onChange: (key: KeyRecord) => void,
): UpdateAccount {
  const tails = new Map<string, Promise<unknown>>()
  const buildAuditEntry = auditEntryBuilder(auditRetentionDays)

  /** The ids of the keys to delete with a change; none if `beforeKeysAreDeleted` rejects. */
  const keysToDelete = async (all: readonly KeyRecord[], now: EpochMs): Promise<readonly string[]> => {
    const surplus = surplusEndedKeys(all, now)
    if (surplus.length === 0) return []
    try {
      const ended = await endedLineages(all, surplus, policies, now)
      if (ended.length > 0) await beforeKeysAreDeleted(ended)
    } catch {
      // The change itself, such as a revocation, must not fail. The next change tries again to delete keys.
      return []
    }
    return surplus.map(key => key.id)
  }

  const attempt = async <T>(
    accountId: string,
    decide: (keys: readonly KeyRecord[], now: EpochMs) => Decision<T> | Promise<Decision<T>>,
  ): Promise<Verdict<T, IssuerDenial>> => {
    for (let n = 0; n < ATTEMPTS; n++) {
      const { revision, keys: all } = await keys.load(accountId)
      const now = clock.now()
      const decision = await decide(all, now)
      if (!decision.ok) return decision
      const { value, write } = decision
      if (!write) return allow(value)
      const { by, notes, ...rest } = write
      const audit = notes.map(note => buildAuditEntry(accountId, by, note, now))
      const drop = await keysToDelete(all, now)
      if (await keys.commit(accountId, revision, { ...rest, drop, audit })) {
        for (const key of rest.keys) onChange(key)
        return allow(value)
      }
    }
    throw new Fault('ERR_OVERLOADED', 'the keys of the account keep changing')
  }

  return (accountId, decide) => {
    const result = (tails.get(accountId) ?? Promise.resolve()).then(() => attempt(accountId, decide))
    const tail = result
      .catch(() => undefined)
      .finally(() => {
        if (tails.get(accountId) === tail) tails.delete(accountId)
      })
    tails.set(accountId, tail)
    return result
  }
}

/**
 * Ends keys at an instant. Ending the newest key of a lineage ends the whole lineage and all keys below it: its predecessor,
 * which ends soon anyway, must not keep the keys below alive.
 */
export function endKeys(keys: readonly KeyRecord[], ids: readonly string[], now: EpochMs): KeyWrite {
  const live = keys.filter(key => isLive(key, now))
  const ending = live.filter(key => ids.includes(key.id))
  const staying = live.filter(key => !ids.includes(key.id) && key.successorId === null)
  const endingLineages = new Set(ending.map(key => key.lineageId))
  for (const { lineageId } of staying) endingLineages.delete(lineageId)
  const ended = live.filter(
    key =>
      ending.includes(key) || [key.lineageId, ...key.ancestry].some(lineage => endingLineages.has(lineage)),
  )
  return raiseVersions(
    ended.map(key => ({ ...key, revokedAt: now })),
    now,
  )
}

/** Raises the versions of changed keys, and adds the feed entries that end the sessions of the versions before. */
export function raiseVersions(keys: readonly KeyRecord[], now: EpochMs): KeyWrite {
  const raised = keys.map(key => ({ ...key, version: key.version + 1 }))
  return {
    keys: raised,
    policies: [],
    feed: raised.map(({ id, version }) => ({ kind: 'key', id, version, at: now })),
  }
}

/** Joins several writes into one, in their order. */
export function mergeWrites(...writes: readonly KeyWrite[]): KeyWrite {
  return {
    keys: writes.flatMap(write => write.keys),
    policies: writes.flatMap(write => write.policies),
    feed: writes.flatMap(write => write.feed),
  }
}

/** The denial for a key that does not exist, or that the caller may not see. */
export const keyNotFound: IssuerDenial = deny('not_found', 'no key has this id')
