import { allow, Fault, type EpochMs, type Verdict } from '@gatewright/kernel'
import { entryMaker, type NotedWrite } from '../audit.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { endOf, isLive } from './key.ts'
import type { CheckedOptions } from '../options.ts'
import type { KeyRecord, KeyWrite } from '../storage/port.ts'

/** What a decision about an account's keys comes to: a refusal, or a value and what has to be written for it. */
export type Decision<T> = IssuerDenial | { readonly ok: true; readonly value: T; readonly write?: NotedWrite }

/**
 * Decides on all keys of an account. Without effects, because it may be asked again; what it reads elsewhere, it
 * reads after the keys.
 */
export type Decide<T> = (keys: readonly KeyRecord[], now: EpochMs) => Decision<T> | Promise<Decision<T>>

/** Runs decisions about accounts. */
export type Accounts = <T>(accountId: string, decide: Decide<T>) => Promise<Verdict<T, IssuerDenial>>

/**
 * How often a decision is made again because another host was first. Each loss means that another change went
 * through, so this many in a row is a storm.
 */
const ATTEMPTS = 50

/**
 * Ended keys kept per account, to be listed. Whoever holds a key may create and revoke all day; what has to be
 * loaded for each decision stays bounded, and nobody is locked out for it. An ended key decides nothing any more.
 */
const MOST_ENDED = 200

/** The ended keys beyond those kept, the longest ended first to go. */
function surplus(keys: readonly KeyRecord[], now: EpochMs): string[] {
  return keys
    .filter(key => !isLive(key, now))
    .sort((a, b) => endOf(b) - endOf(a))
    .slice(MOST_ENDED)
    .map(key => key.id)
}

/**
 * Loads an account's keys, decides, and commits against the revision it loaded; when another host was first, all
 * of it again. In this process the changes of one account wait for each other. Fault: `ERR_OVERLOADED`.
 */
export function createAccounts(
  { keys, clock, auditRetentionDays }: CheckedOptions,
  changed: (key: KeyRecord) => void,
): Accounts {
  const tails = new Map<string, Promise<unknown>>()
  const entryOf = entryMaker(auditRetentionDays)

  const attempt = async <T>(accountId: string, decide: Decide<T>): Promise<Verdict<T, IssuerDenial>> => {
    for (let n = 0; n < ATTEMPTS; n++) {
      const { revision, keys: all } = await keys.load(accountId)
      const now = clock.now()
      const decision = await decide(all, now)
      if (!decision.ok) return decision
      const { value, write } = decision
      if (!write) return allow(value)
      const { by, notes, ...rest } = write
      const audit = notes.map(note => entryOf(accountId, by, note, now))
      if (await keys.commit(accountId, revision, { ...rest, drop: surplus(all, now), audit })) {
        for (const key of rest.keys) changed(key)
        return allow(value)
      }
    }
    throw new Fault('ERR_OVERLOADED', 'the keys of the account keep changing')
  }

  return (accountId, decide) => {
    const turn = (tails.get(accountId) ?? Promise.resolve()).then(() => attempt(accountId, decide))
    const tail = turn
      .catch(() => undefined)
      .finally(() => {
        if (tails.get(accountId) === tail) tails.delete(accountId)
      })
    tails.set(accountId, tail)
    return turn
  }
}

/**
 * Ends keys at an instant. The newest key of a lineage takes all of it along, and whatever stands below: a key it
 * has replaced is on its way out and must not keep them alive.
 */
export function ended(keys: readonly KeyRecord[], ids: readonly string[], now: EpochMs): KeyWrite {
  const live = keys.filter(key => isLive(key, now))
  const ending = live.filter(key => ids.includes(key.id))
  const staying = live.filter(key => !ids.includes(key.id) && key.successorId === null)
  const lost = new Set(ending.map(key => key.lineageId))
  for (const { lineageId } of staying) lost.delete(lineageId)
  const gone = live.filter(
    key => ending.includes(key) || [key.lineageId, ...key.ancestry].some(lineage => lost.has(lineage)),
  )
  return written(
    gone.map(key => ({ ...key, revokedAt: now })),
    now,
  )
}

/** Changed keys with their versions raised, and the feed entries that end the sessions minted before. */
export function written(keys: readonly KeyRecord[], now: EpochMs): KeyWrite {
  const raised = keys.map(key => ({ ...key, version: key.version + 1 }))
  return {
    keys: raised,
    policies: [],
    feed: raised.map(({ id, version }) => ({ kind: 'key', id, version, at: now })),
  }
}

/** Several writes as one, in their order. */
export function together(...writes: readonly KeyWrite[]): KeyWrite {
  return {
    keys: writes.flatMap(write => write.keys),
    policies: writes.flatMap(write => write.policies),
    feed: writes.flatMap(write => write.feed),
  }
}

/** The key of an id, if the caller may know of it. */
export const notFound: IssuerDenial = deny('not_found', 'no such key')
