import type { Session } from '@gatewright/kernel'
import { isRoot, isSession, type Standing } from './authority.ts'
import type { ApiKey, KeyMaker, KeyRecord, SessionStorage } from '../storage/port.ts'

/**
 * The sessions that a caller acts by, from the first to itself; empty for a key. Undefined for a session that has
 * ended in the store: what it asks for now would outlive it unseen.
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

/** The maker that a new key names. */
export function makerOf({ key }: Standing, sessionIds: readonly string[]): KeyMaker {
  return { keyId: key.id, lineageId: key.lineageId, sessionIds }
}

const makersOf = ({ createdBy, rotatedBy }: KeyRecord): KeyMaker[] =>
  [createdBy, rotatedBy].filter(maker => maker !== null)

/**
 * The ids of all keys that a session, or one minted from it, created or got by rotating them, and of all keys that
 * these made in their turn. A rotation by the key itself hands its makers on, so a successor is found too.
 */
export function keysMadeBy(sessionId: string, keys: readonly KeyRecord[]): ReadonlySet<string> {
  const made = new Set<string>()
  for (let before = -1; before !== made.size; ) {
    before = made.size
    for (const key of keys) {
      const isMade = makersOf(key).some(
        ({ keyId, sessionIds }) => sessionIds.includes(sessionId) || made.has(keyId),
      )
      if (isMade) made.add(key.id)
    }
  }
  return made
}

/**
 * Whether a caller may end what a session made after the session itself is no longer stored, which is then known
 * from the keys that name it: the session's key is the caller's own or stands below it; a root reaches all.
 */
export function reachesMaker(standing: Standing, sessionId: string, keys: readonly KeyRecord[]): boolean {
  return keys.some(key =>
    makersOf(key).some(({ lineageId, sessionIds }) => {
      if (!sessionIds.includes(sessionId)) return false
      const upToMaker = key.ancestry.slice(0, key.ancestry.indexOf(lineageId) + 1)
      return isRoot(standing.key) || upToMaker.includes(standing.key.lineageId)
    }),
  )
}
