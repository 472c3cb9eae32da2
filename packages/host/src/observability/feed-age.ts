import type { Clock } from '@gatewright/kernel'
import type { RevocationFeed } from '@gatewright/scope-guard'

/** A revocation feed that knows when it was last read to its end. */
export interface MeasuredFeed {
  readonly feed: RevocationFeed
  /**
   * Seconds since the start of the last read that reached the end of the feed: every revocation before that is known. Undefined if
   * nobody has read the feed.
   */
  ageSeconds(): number | undefined
}

/** Measures the age of what this process knows of a feed. `monotonic` never jumps. */
export function measuredFeed(feed: RevocationFeed, monotonic: Clock = performance): MeasuredFeed {
  let readAt: number | undefined
  const subscribe = feed.subscribe?.bind(feed)
  return {
    feed: {
      async after(position, limit) {
        const startedAt = monotonic.now()
        const entries = await feed.after(position, limit)
        // A page that is full may have a next one.
        if (entries.length < limit) readAt = Math.max(readAt ?? startedAt, startedAt)
        return entries
      },
      ...(subscribe ? { subscribe } : {}),
    },
    ageSeconds: () => (readAt === undefined ? undefined : (monotonic.now() - readAt) / 1000),
  }
}
