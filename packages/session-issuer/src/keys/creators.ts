import type { Session } from '@gatewright/kernel'
import { isRoot, isSession, type ActiveCaller } from './authority.ts'
import type { ApiKey, KeyCreator, KeyRecord, SessionStorage } from '../storage/port.ts'

/**
 * Returns the ids of the calling session and of the sessions that it was minted from, the first one first; empty for a key.
 * Undefined for a session that has ended in the store: a key that it creates now could not be found and revoked with it.
 */
export async function sessionPath(
  caller: ApiKey | Session,
  sessions: SessionStorage,
  now: number,
): Promise<readonly string[] | undefined> {
  if (!isSession(caller)) return []
  const stored = await sessions.find(caller.sessionId)
  if (!stored || stored.revokedAt !== null || now >= stored.expiresAt) return undefined
  return [...stored.ancestry, stored.sessionId]
}

/** Makes the creator that the record of a new key names. */
export function creatorOf({ key }: ActiveCaller, sessionIds: readonly string[]): KeyCreator {
  return { keyId: key.id, lineageId: key.lineageId, sessionIds }
}

const creatorsOf = ({ createdBy, rotatedBy }: KeyRecord): KeyCreator[] =>
  [createdBy, rotatedBy].filter(creator => creator !== null)

/**
 * Returns the ids of all keys that a session, or a session minted from it, created or rotated, and of all keys that these keys
 * created, at any depth. If a key rotates itself, its successor keeps its creators, so it is found, too.
 */
export function keysCreatedBy(sessionId: string, keys: readonly KeyRecord[]): ReadonlySet<string> {
  const created = new Set<string>()
  for (let sizeBefore = -1; sizeBefore !== created.size; ) {
    sizeBefore = created.size
    for (const key of keys) {
      const isCreated = creatorsOf(key).some(
        ({ keyId, sessionIds }) => sessionIds.includes(sessionId) || created.has(keyId),
      )
      if (isCreated) created.add(key.id)
    }
  }
  return created
}

/**
 * Whether a caller may end the keys that a session created, after the session itself was deleted and only the keys name it: if
 * the session's key is the caller's own or below it, or the caller is a root.
 */
export function canReachCreator(
  active: ActiveCaller,
  sessionId: string,
  keys: readonly KeyRecord[],
): boolean {
  return keys.some(key =>
    creatorsOf(key).some(({ lineageId, sessionIds }) => {
      if (!sessionIds.includes(sessionId)) return false
      const upToCreator = key.ancestry.slice(0, key.ancestry.indexOf(lineageId) + 1)
      return isRoot(active.key) || upToCreator.includes(active.key.lineageId)
    }),
  )
}
