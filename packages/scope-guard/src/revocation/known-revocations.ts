import {
  FEED_RETENTION_MS,
  FEED_START,
  positionsAfter,
  type FeedEntry,
  type Session,
  type EpochMs,
} from '@gatewright/kernel'
import { endsSession } from '@gatewright/kernel/internal'

/** The revocations that a process knows, by the key or session that they end. */
export interface KnownRevocations {
  /** For each lane the highest position of a known entry; 0 if none is known. */
  readonly positions: readonly number[]
  add(entries: readonly FeedEntry[]): void
  /** Whether any entry ends a session. */
  ends(session: Session, now: EpochMs): boolean
  /** Removes entries whose sessions have all expired. */
  forget(now: EpochMs): void
}

/** Makes an empty set of revocations. Adding an entry twice, or in another order, changes nothing. */
export function knownRevocations(): KnownRevocations {
  const byTarget = new Map<string, FeedEntry[]>()
  let positions = FEED_START
  const target = (kind: FeedEntry['kind'], id: string): string => `${kind} ${id}`
  const ended = (entries: readonly FeedEntry[] | undefined, session: Session, now: EpochMs): boolean =>
    entries !== undefined && entries.some(entry => endsSession(entry, session, now))
  return {
    get positions() {
      return positions
    },
    add(entries) {
      for (const entry of entries) {
        const key = target(entry.kind, entry.id)
        const known = byTarget.get(key)
        if (!known) byTarget.set(key, [entry])
        else if (!known.some(({ lane, position }) => lane === entry.lane && position === entry.position))
          known.push(entry)
      }
      positions = positionsAfter(positions, entries)
    },
    ends: (session, now) =>
      byTarget.size > 0 &&
      (ended(byTarget.get(target('session', session.sessionId)), session, now) ||
        ended(byTarget.get(target('key', session.keyId)), session, now)),
    forget(now) {
      for (const [key, known] of byTarget) {
        const live = known.filter(({ at, from = at }) => Math.max(at, from) + FEED_RETENTION_MS > now)
        if (live.length === 0) byTarget.delete(key)
        else if (live.length < known.length) byTarget.set(key, live)
      }
    },
  }
}
