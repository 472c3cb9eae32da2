import {
  endsSession,
  FEED_RETENTION_MS,
  type EpochMs,
  type FeedEntry,
  type Session,
} from '@gatewright/kernel'

/** The revocations a process knows, by what they end. */
export interface KnownRevocations {
  /** The highest position seen; 0 before the first. */
  readonly position: number
  add(entries: readonly FeedEntry[]): void
  ends(session: Session, now: EpochMs): boolean
  /** Forgets entries whose sessions have all ended by themselves. */
  forget(now: EpochMs): void
}

/** Starts with nothing known. Entries add up: adding one twice, or in another order, changes nothing. */
export function knownRevocations(): KnownRevocations {
  const byTarget = new Map<string, FeedEntry[]>()
  let position = 0
  const target = (kind: FeedEntry['kind'], id: string): string => `${kind} ${id}`
  const ended = (entries: readonly FeedEntry[] | undefined, session: Session, now: EpochMs): boolean =>
    entries !== undefined && entries.some(entry => endsSession(entry, session, now))
  return {
    get position() {
      return position
    },
    add(entries) {
      for (const entry of entries) {
        const key = target(entry.kind, entry.id)
        const held = byTarget.get(key)
        if (!held) byTarget.set(key, [entry])
        else if (!held.some(one => one.position === entry.position)) held.push(entry)
        position = Math.max(position, entry.position)
      }
    },
    ends: (session, now) =>
      byTarget.size > 0 &&
      (ended(byTarget.get(target('session', session.sessionId)), session, now) ||
        ended(byTarget.get(target('key', session.keyId)), session, now)),
    forget(now) {
      for (const [key, held] of byTarget) {
        const live = held.filter(({ at, from = at }) => Math.max(at, from) + FEED_RETENTION_MS > now)
        if (live.length === 0) byTarget.delete(key)
        else if (live.length < held.length) byTarget.set(key, live)
      }
    },
  }
}
