import type { Clock } from '@gatewright/kernel'
import type { RevocationFeed } from '@gatewright/scope-guard'

/** A revocation feed that records when it was last read to its end. */
export interface MeasuredFeed {
  readonly feed: RevocationFeed
  /**
   * Seconds since the start of the last read that reached the end of the feed: every revocation before that is known. Undefined if
   * nobody has read the feed.
   */
  ageSeconds(): number | undefined
}

/** Wraps a feed to measure the age of this process's knowledge of it. `monotonic` is a clock that never jumps. */
export function measuredFeed(feed: RevocationFeed, monotonic: Clock = performance): MeasuredFeed {
  let readAt: number | undefined
  const subscribe = feed.subscribe?.bind(feed)
  return {
    feed: {
      async after(positions, limit) {
        const startedAt = monotonic.now()
        const entries = await feed.after(positions, limit)
        // With fewer entries no lane has more.
        if (entries.length < limit) readAt = Math.max(readAt ?? startedAt, startedAt)
        return entries
      },
      ...(subscribe ? { subscribe } : {}),
    },
    ageSeconds: () => (readAt === undefined ? undefined : (monotonic.now() - readAt) / 1000),
  }
}
